"""Hostile archives and JSON: sizes, checksums, methods, nesting, cut files."""

import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from logs import write_lines, write_zip_member

from trueness.formats import json_stream, zip_members
from trueness.formats.json_stream import json_lines, load_document
from trueness.formats.zip_members import DEFLATED, STORED, ZSTANDARD, open_zip
from trueness.refusals import Refusal

CONTENT = b'{"a": 1}' * 100


def zstandard(data: bytes) -> bytes:
    import pyarrow as pa

    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS = {STORED: bytes, DEFLATED: deflated, ZSTANDARD: zstandard}


def member(path: Path) -> bytes:
    with open_zip(str(path)) as members:
        return members.read(members.names[0])


def reason(path: Path) -> str:
    with pytest.raises(Refusal) as caught:
        member(path)
    assert caught.value.code == "unreadable-file"
    return caught.value.cause.split("cannot be read, ", 1)[1].split("': ", 1)[1]


@pytest.mark.parametrize("method", PACKERS)
def test_methods(tmp_path: Path, method: int) -> None:
    path = write_zip_member(tmp_path / "x.zip", "a.json", PACKERS[method](CONTENT), CONTENT, method)
    assert member(path) == CONTENT


def test_several_zstandard_frames(tmp_path: Path) -> None:
    packed = zstandard(CONTENT[:300]) + zstandard(CONTENT[300:])
    assert member(write_zip_member(tmp_path / "x.zip", "a", packed, CONTENT, ZSTANDARD)) == CONTENT


@pytest.mark.parametrize("method", PACKERS)
class TestDamage:
    def test_checksum(self, tmp_path: Path, method: int) -> None:
        packed = PACKERS[method](CONTENT)
        path = write_zip_member(tmp_path / "x.zip", "a", packed, CONTENT, method, crc=7)
        assert "checksum" in reason(path)

    def test_a_bomb_is_read_no_further_than_it_states(self, tmp_path: Path, method: int) -> None:
        packed = PACKERS[method](bytes(2**22))
        path = write_zip_member(tmp_path / "x.zip", "a", packed, CONTENT, method, size=1000)
        assert "length or checksum" in reason(path)

    def test_a_member_that_states_too_much_is_not_read(
        self, tmp_path: Path, method: int, monkeypatch: Any
    ) -> None:
        monkeypatch.setattr(zip_members, "MAX_MEMBER_BYTES", 100)
        path = write_zip_member(tmp_path / "x.zip", "a", PACKERS[method](CONTENT), CONTENT, method)
        assert "larger than" in reason(path)

    def test_garbage(self, tmp_path: Path, method: int) -> None:
        path = write_zip_member(tmp_path / "x.zip", "a", b"\xff" * 800, CONTENT, method)
        assert reason(path)

    def test_encrypted(self, tmp_path: Path, method: int) -> None:
        path = write_zip_member(tmp_path / "x.zip", "a", PACKERS[method](CONTENT), CONTENT, method, flags=1)
        assert "encrypted" in reason(path)


def test_an_unknown_method(tmp_path: Path) -> None:
    assert "method 14" in reason(write_zip_member(tmp_path / "x.zip", "a", CONTENT, CONTENT, 14))


def test_a_cut_archive(tmp_path: Path) -> None:
    path = write_zip_member(tmp_path / "x.zip", "a", CONTENT, CONTENT, STORED)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(Refusal):
        member(path)


def test_elements_and_constants(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("[1, NaN, -Infinity, [2], {}, true]")
    assert str(load_document(str(path))) == "[1, nan, -inf, [2], {}, True]"


def test_a_name_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"a": 1, "b": {"c": 1, "c": 1}}')
    with pytest.raises(Refusal, match="the name 'c' twice") as caught:
        load_document(str(path))
    assert caught.value.code == "repeated-row"


@pytest.mark.parametrize(
    "text", ["{", '{"a"', '{"a": 1', '{"a": 1,', '{"a": "x', "[1, 2", "[1 2]", '{"a" 1}', "{1: 2}"]
)
def test_documents_that_are_cut_or_wrong_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(Refusal) as caught:
        load_document(str(path))
    assert caught.value.code == "bad-json"


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    deep = "[" * 200_000 + "]" * 200_000
    path = tmp_path / "x.json"
    path.write_text(deep)
    with pytest.raises(Refusal, match="nested too deep"):
        load_document(str(path))
    path.write_text('{"a": ' + deep + "}\n")
    with pytest.raises(Refusal, match="nested too deep"):
        list(json_lines(str(path)))


def test_large_lines_and_documents_are_refused(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(json_stream, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(json_stream, "MAX_DOCUMENT_BYTES", 1000)
    monkeypatch.setattr(json_stream, "BLOCK_BYTES", 100)
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"a": "x" * 5000}))
    with pytest.raises(Refusal) as caught:
        load_document(str(path))
    assert caught.value.code == "value-too-large"
    with pytest.raises(Refusal) as caught:
        list(json_lines(str(path)))
    assert caught.value.code == "value-too-large"


def test_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(Refusal):
        load_document(str(path))


def test_lines_are_counted_with_blank_ones(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "x.jsonl", [{"a": 1}, {"a": 2}])
    path.write_text(path.read_text().replace("\n", "\n\n"))
    assert [line.number for line in json_lines(str(path))] == [1, 3]


@pytest.mark.parametrize("line", ["[1]", "17", "{broken", '{"a": 1e}', "\x00"])
def test_lines_that_are_not_objects_are_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n' + line + "\n")
    with pytest.raises(Refusal) as caught:
        list(json_lines(str(path)))
    assert (caught.value.code, caught.value.row) == ("unreadable-row", 2)
