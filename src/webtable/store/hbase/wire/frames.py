"""The bytes of calls: frames, their heads, and putting frames together from what a socket gives.

On the wire (all numbers big-endian, "delimited" = varint length in front):

    once      "HBas" | version 0 | auth byte | u32 length | ConnectionHeader
    request   u32 length | delimited RequestHeader | delimited request | cell block
    response  u32 length | delimited ResponseHeader | delimited response | cell block

This module may be running compiled, by Cython from this very file and the C types in
`_frames.pxd`; `pipelined_connection` imports the form that is to run. What is usual in a head is
read by hand, for a message takes three times as long; what is not, by the message.
"""

from __future__ import annotations

from io import BytesIO

from webtable.store.hbase.proto import rpc_pb2
from webtable.store.hbase.wire.errors_and_responses import ConnectionLost, NotHBase, Server

__all__ = ["COMPILED", "Frames", "read_head", "read_varint", "request_frame", "varint"]

COMPILED = not __file__.endswith((".py", ".pyc"))
"""Whether this is machine code."""

_compiled = COMPILED  # the same as a C variable
MAX_RESPONSE_BYTES = 1 << 30
# A head has some bytes, or the text of an exception.
_MOST_HEAD_BYTES = 1 << 24
# A frame in few parts is joined at the end, which is quickest; many parts go into one buffer, as
# they would take far more memory than their bytes if they are small, and twice that if joined.
_FEW_PARTS = 64
# Other protocols begin with text. Read as a length, `<!DO` and `220 ` are less than a row may have.
_TEXT = bytes(range(0x20, 0x7F)) + b"\t\r\n"
_SMALL_READ = 1 << 16
_LARGE_READ = 1 << 20
_ONE_BYTE = tuple(bytes((number,)) for number in range(0x80))
_MOST_SHIFT = 56


def varint(number: int) -> bytes:
    """Returns a number of at most 64 bits in as many bytes as it needs, seven bits each."""
    if number < 0x80:
        return _ONE_BYTE[number]
    if _compiled:
        return c_varint(number)  # type: ignore[name-defined,no-any-return]  # noqa: F821
    if number < 0x4000:
        return bytes((number & 0x7F | 0x80, number >> 7))
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Returns the number that begins at a position, and the position after it.

    Raises:
        IndexError: the bytes end before it, or it has more than 63 bits.
    """
    number = shift = 0
    size = len(data)
    while at < size and shift <= _MOST_SHIFT:
        byte = data[at]
        piece = byte & 0x7F  # in C of 64 bits too, for it is shifted further than 32
        at += 1
        number |= piece << shift
        if byte < 0x80:
            return number, at
        shift += 7
    raise IndexError(f"no number in {size} bytes before byte {at}")


_usual: dict[str, bytes] = {}  # a method's name → the result of `_usual_head`


def _usual_head(method: str) -> bytes:
    """Returns the part of a RequestHeader that is the same in each call of a method.

    With `!` after the name it has priority 0. For a call without priority the server looks up
    whether it is for a system table, whose calls have precedence.
    """
    name = method.removesuffix("!")
    head = rpc_pb2.RequestHeader(method_name=name, request_param=True).SerializeToString()
    if name != method:
        head += b"\x30\x00"
    _usual[method] = head
    return head


def request_frame(call_id: int, method: str, body: bytes, timeout: float, cells: bytes) -> bytes:
    """Returns a call as bytes. The server drops it when it cannot begin within the time-out."""
    block = b""
    if cells:
        length = varint(len(cells))
        block = b"\x2a%c\x08%b" % (len(length) + 1, length)
    usual = _usual.get(method)
    if usual is None:
        usual = _usual_head(method)
    number, limit = varint(call_id), varint(max(int(timeout * 1000), 1))
    head = b"".join((b"\x08", number, usual, block, b"\x38", limit))
    head_size, body_size = varint(len(head)), varint(len(body))
    total = len(head_size) + len(head) + len(body_size) + len(body) + len(cells)
    return b"".join((total.to_bytes(4, "big"), head_size, head, body_size, body, cells))


def read_head(frame: bytes) -> tuple[int, int, int, rpc_pb2.ExceptionResponse | None]:
    """Returns a response's call id, where its body begins, the bytes of its cell block, its error.

    Raises:
        DecodeError, IndexError: it is not a response.
    """
    # Usually: size | 08 call id | 1a size 08 length of the cell block
    head_end = frame[0] + 1
    if head_end <= 0x80 and len(frame) >= head_end > 2 and frame[1] == 0x08:
        call_id, at = read_varint(frame, 2)
        if at == head_end:
            return call_id, head_end, 0, None
        if at + 3 < head_end and frame[at] == 0x1A and frame[at + 2] == 0x08:
            length, end = read_varint(frame, at + 3)
            if end == head_end == at + 2 + frame[at + 1]:
                return call_id, head_end, length, None
    size, start = read_varint(frame, 0)
    if size > min(len(frame) - start, _MOST_HEAD_BYTES):  # a sum would overflow in C
        raise IndexError(f"a head of {size:,} bytes in {len(frame):,}")
    end = start + size
    header = rpc_pb2.ResponseHeader.FromString(frame[start:end])
    error = header.exception if header.HasField("exception") else None
    return header.call_id, end, header.cell_block_meta.length, error


class Frames:
    """Puts frames together from what a socket gives.

    Attributes:
        wanted: how much to read from the socket.
    """

    def __init__(self, server: Server) -> None:
        self.wanted = _SMALL_READ
        self._server = server
        self._is_met = False
        self._rest = b""
        self._parts: list[bytes] = []
        self._buffer: BytesIO | None = None
        self._missing = 0

    def add(self, data: bytes) -> list[bytes]:
        """Returns the frames that are complete now, without their lengths."""
        if not data:
            raise ConnectionLost(f"{self._server} closed the connection", self._server)
        if self._missing:  # then no more than that was read
            self._parts.append(data)
            self._miss(self._missing - len(data))
            if not self._missing:
                return [self._whole()]
            if len(self._parts) > _FEW_PARTS:
                self._put_by()
            return []
        if self._rest:
            data = self._rest + data
        frames: list[bytes] = []
        at, size = 0, len(data)
        if not self._is_met and size >= 4:
            self._meet(data)
        while size - at >= 4:
            first = data[at]
            length = first << 24 | data[at + 1] << 16 | data[at + 2] << 8 | data[at + 3]
            end = at + 4 + length
            if not 0 < length <= MAX_RESPONSE_BYTES:
                raise NotHBase(f"it sent {data[at : at + 20]!r}", self._server)
            if end > size:
                self._parts = [data[at + 4 :]]
                self._miss(end - size)
                at = size
                break
            frames.append(data[at + 4 : end])
            at = end
        self._rest = data[at:]
        return frames

    def _meet(self, data: bytes) -> None:
        if not data[:4].translate(None, _TEXT):
            reason = f"it sent {data[:20]!r}, which is text of a web server or another program"
            raise NotHBase(reason, self._server)
        self._is_met = True

    def _put_by(self) -> None:
        if self._buffer is None:
            self._buffer = BytesIO()
        # Each part goes as soon as it is copied: together they may be as large as the frame.
        self._parts.reverse()
        while self._parts:
            self._buffer.write(self._parts.pop())

    def _whole(self) -> bytes:
        if self._buffer is not None:
            self._put_by()
            frame: bytes = self._buffer.getvalue()  # the buffer's own bytes, not a copy
            self._buffer = None
        else:
            frame = b"".join(self._parts)
            self._parts = []
        return frame

    def _miss(self, missing: int) -> None:
        self._missing = missing
        self.wanted = min(missing, _LARGE_READ) or _SMALL_READ
