"""The members of a ZIP file, one at a time: also those compressed with Zstandard, which `zipfile` does not read.

Nothing is extracted to disk. A member is read up to a size, its length and checksum are compared with those that the
archive states, and nothing else of the archive is trusted.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from trueness.formats.arrow import pyarrow
from trueness.refusals import InvalidValueError, Refusal, quote, reason_of

MAX_MEMBER_BYTES = 2**28
"""The most bytes of a member, packed or unpacked."""

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
_ENCRYPTED = 1
_LOCAL_HEADER = 30
_BLOCK = 2**20


class ZipMembers:
    """The members of an open ZIP file by name; of members with the same name the last one counts."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self.name = file, name
        try:
            listed = zipfile.ZipFile(file).infolist()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise self._damaged("the archive", reason_of(error)) from None
        self._members = {member.filename: member for member in listed}

    @property
    def names(self) -> list[str]:
        """The different names, in the order of the archive."""
        return list(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        """The content of a member."""
        member = self._members[name]
        if max(member.file_size, member.compress_size) > MAX_MEMBER_BYTES:
            raise self._damaged(name, f"it is larger than {MAX_MEMBER_BYTES >> 20} MB")
        if member.flag_bits & _ENCRYPTED:
            raise self._damaged(name, "it is encrypted")
        try:
            data = self._unpack(member, self._packed(member))
        except (zlib.error, OSError, MemoryError, pyarrow().ArrowException) as error:
            raise self._damaged(name, reason_of(error)) from None
        if len(data) != member.file_size or zlib.crc32(data) != member.CRC:
            raise self._damaged(name, "its length or checksum is wrong")
        return data

    def _packed(self, member: zipfile.ZipInfo) -> bytes:
        self._file.seek(member.header_offset)
        header = self._file.read(_LOCAL_HEADER)
        if len(header) < _LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
            raise OSError("its local header is missing")
        name_length, extra_length = (
            int.from_bytes(header[place : place + 2], "little") for place in (26, 28)
        )
        self._file.seek(name_length + extra_length, io.SEEK_CUR)
        return self._file.read(member.compress_size)

    def _unpack(self, member: zipfile.ZipInfo, packed: bytes) -> bytes:
        """The content; one byte more than the archive states at most, by which a bomb is found."""
        most = member.file_size + 1
        if member.compress_type == STORED:
            return packed
        if member.compress_type == DEFLATED:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
        if member.compress_type == ZSTANDARD:
            return _unpack_zstandard(packed, most)
        raise OSError(f"compression method {member.compress_type} is not supported")

    def _damaged(self, member: str, reason: str) -> Refusal:
        cause = f"{self.name} cannot be read, {quote(member)}: {reason}"
        return InvalidValueError("unreadable-file", cause, "create the file again")


def _unpack_zstandard(packed: bytes, most: int) -> bytes:
    """The content of one or several Zstandard frames, up to so many bytes."""
    pa = pyarrow()
    parts, size = [], 0
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        while size < most and (part := stream.read(min(_BLOCK, most - size))):
            parts.append(part)
            size += len(part)
    return b"".join(parts)


@contextmanager
def open_zip(path: str) -> Iterator[ZipMembers]:
    """The members of a ZIP file."""
    with open(path, "rb") as file:
        yield ZipMembers(file, path)


def is_zip(path: str) -> bool:
    """Whether a file begins as a ZIP file does."""
    with open(path, "rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
