"""HTML and SVG as values: text is escaped unless it is markup already, so that no name can become code.

Names of groups, files, models and measures come from users. `tag` escapes every child and every attribute that is not
`Markup`; apart from it, only constant strings of trueness become `Markup`.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any

# Invisible, and not allowed in HTML; a lone surrogate cannot even be encoded. The last ones change the direction of
# writing, by which a name can be made to look like another.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)

_EMPTY = {"meta", "br", "line", "rect", "circle", "path", "polygon", "polyline"}
_ENDED_BY_TAG = {"meta", "br"}


class Markup(str):
    """Text that is HTML or SVG already."""

    __slots__ = ()


def escape(value: Any) -> Markup:
    """Text with markup escaped and unprintable characters replaced; `Markup` is returned as it is.

    >>> escape("<script>alert('x')</script> & more")
    '&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; more'
    """
    return value if isinstance(value, Markup) else Markup(html.escape(_UNPRINTABLE.sub("\ufffd", str(value))))


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """An element. `class_` is written `class`, `aria_label` `aria-label`; attributes that are None are left out.

    >>> tag("p", "2 < 3, ", tag("b", "always"), class_="note", id=None)
    '<p class="note">2 &lt; 3, <b>always</b></p>'
    """
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY and not children:
        return Markup(f"<{name}{words}>" if name in _ENDED_BY_TAG else f"<{name}{words}/>")
    return Markup(f"<{name}{words}>{join_markup(children)}</{name}>")


def join_markup(children: Any) -> Markup:
    """Markup and text concatenated; lists are flattened, None is left out."""
    parts = []
    for child in children:
        if isinstance(child, (list, tuple)):
            parts.append(join_markup(child))
        elif child is not None:
            parts.append(escape(child))
    return Markup("".join(parts))


def _short(value: Any) -> Any:
    """Coordinates rounded to a hundredth of a pixel."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def name_of(text: Any) -> Markup:
    """A name from a user, isolated so that it cannot change the direction of the text around it."""
    return tag("bdi", text)


def json_text(content: Any) -> Markup:
    """JSON for a script element: no text in it can end that element.

    >>> "<" in json_text({"name": "</script>"}), json.loads(json_text({"name": "</script>"}))
    (False, {'name': '</script>'})
    """
    text = json.dumps(content, allow_nan=False)  # ASCII: other characters are escaped
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
