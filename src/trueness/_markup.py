"""HTML and SVG as values: whatever is not markup already is escaped, so that no name can become code.

Names of groups, files, models and measures come from outside. `tag` escapes every child and every attribute that is
not `Markup`; nothing else in the report makes a `Markup` of a string that it did not write itself.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any

# Neither allowed in HTML nor to be seen; a lone half of a surrogate pair cannot even be written. The second line turns
# the direction of writing, by which a name could be made to look like another.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)

_EMPTY = {"meta", "br", "line", "rect", "circle", "path", "polygon", "polyline"}
_ENDED_BY_TAG = {"meta", "br"}


class Markup(str):
    """Text that is HTML or SVG already."""

    __slots__ = ()


def escaped(value: Any) -> Markup:
    """Text as it is to be read, whatever is in it.

    >>> escaped("<script>alert('x')</script> & more")
    '&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; more'
    """
    return value if isinstance(value, Markup) else Markup(html.escape(_UNPRINTABLE.sub("\ufffd", str(value))))


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """An element. `class_` is written `class`, `aria_label` `aria-label`; None leaves an attribute out.

    >>> tag("p", "2 < 3, ", tag("b", "always"), class_="note", id=None)
    '<p class="note">2 &lt; 3, <b>always</b></p>'
    """
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(_short(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY and not children:
        return Markup(f"<{name}{words}>" if name in _ENDED_BY_TAG else f"<{name}{words}/>")
    return Markup(f"<{name}{words}>{joined(children)}</{name}>")


def joined(children: Any) -> Markup:
    """Markup and text one after the other; lists are opened, None is left out."""
    parts = []
    for child in children:
        if isinstance(child, (list, tuple)):
            parts.append(joined(child))
        elif child is not None:
            parts.append(escaped(child))
    return Markup("".join(parts))


def _short(value: Any) -> Any:
    """Coordinates to a hundredth of a pixel."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def name_of(text: Any) -> Markup:
    """A name from outside, kept from turning the direction of what stands beside it."""
    return tag("bdi", text)


def json_text(content: Any) -> Markup:
    """JSON that may stand in a script element: no text in it can end that element.

    >>> "<" in json_text({"name": "</script>"}), json.loads(json_text({"name": "</script>"}))
    (False, {'name': '</script>'})
    """
    text = json.dumps(content, allow_nan=False)  # which writes all but ASCII as escapes
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
