"""A small reader of what stands in a Parquet file beside the values: footer, page headers, checksums, page index.

It shares no code with any Parquet library, so it judges what libraries read past: a CRC that is missing, an offset index that
points between pages, counts that do not add up.
"""
import base64
import json
import struct
import zlib

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

CODECS = {0: "none", 1: "snappy", 2: "gzip", 4: "brotli", 5: "lz4", 6: "zstd", 7: "lz4_raw"}


class Thrift:
    """Thrift's compact protocol, read into dicts by field id."""

    def __init__(self, buf, pos=0):
        self.buf, self.pos = buf, pos

    def varint(self):
        out = shift = 0
        while True:
            b = self.buf[self.pos]
            self.pos += 1
            out |= (b & 0x7F) << shift
            if b < 0x80:
                return out
            shift += 7

    def int(self):
        n = self.varint()
        return (n >> 1) ^ -(n & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            self.pos += 1
            return struct.unpack_from("b", self.buf, self.pos - 1)[0]
        if kind in (4, 5, 6):
            return self.int()
        if kind == 7:
            self.pos += 8
            return struct.unpack_from("<d", self.buf, self.pos - 8)[0]
        if kind == 8:
            n = self.varint()
            self.pos += n
            return bytes(self.buf[self.pos - n : self.pos])
        if kind in (9, 10):
            head = self.buf[self.pos]
            self.pos += 1
            n, of = head >> 4, head & 15
            if n == 15:
                n = self.varint()
            if of in (1, 2):  # booleans in lists are bytes
                self.pos += n
                return [b == 1 for b in self.buf[self.pos - n : self.pos]]
            return [self.value(of) for _ in range(n)]
        if kind == 12:
            return self.struct()
        raise ValueError(f"thrift type {kind} at {self.pos}")

    def struct(self):
        out, last = {}, 0
        while True:
            head = self.buf[self.pos]
            self.pos += 1
            if head == 0:
                return out
            last = last + (head >> 4) if head >> 4 else self.int()
            out[last] = self.value(head & 15)


def read(path):
    """The bytes of a file and its footer."""
    with open(path, "rb") as f:
        buf = f.read()
    if buf[:4] != b"PAR1" or buf[-4:] != b"PAR1":
        raise ValueError(f"{path}: no PAR1")
    n = struct.unpack("<I", buf[-8:-4])[0]
    return buf, Thrift(buf, len(buf) - 8 - n).struct()


def pages(buf, meta):
    """The pages of a column chunk: (offset, header, header length)."""
    pos = meta.get(11) or meta[9]
    end = pos + meta[7]
    while pos < end:
        t = Thrift(buf, pos)
        head = t.struct()
        yield pos, head, t.pos - pos
        pos = t.pos + head[3]
    if pos != end:
        raise ValueError(f"pages end at {pos}, the chunk at {end}")


def chunk_bytes(buf, column):
    """A column chunk as it lies in the file."""
    meta = column[3]
    start = meta.get(11) or meta[9]
    return buf[start : start + meta[7]]


def name(meta):
    return ".".join(p.decode() for p in meta[3])


def check(path, codec=None, crc=True, index=True):
    """What is wrong with a file, as lines. codec: of every chunk with more than a dictionary in it; crc, index: must be there."""
    bad = []
    buf, foot = read(path)
    groups = foot.get(4, [])
    if not groups:
        bad.append("no row group")
    if sum(g[3] for g in groups) != foot[3]:
        bad.append("rows of the row groups do not add up")
    spans, columns, offsets = [], [], []
    for n, g in enumerate(groups):
        if g[3] == 0:
            bad.append(f"row group {n} is empty")
        if g.get(7, n) != n:
            bad.append(f"row group {n} has ordinal {g[7]}")
        if g[2] != sum(c[3][6] for c in g[1]):
            bad.append(f"row group {n}: total_byte_size is not the sum of its chunks")
        if 6 in g and g[6] != sum(c[3][7] for c in g[1]):
            bad.append(f"row group {n}: total_compressed_size is not the sum of its chunks")
        for c in g[1]:
            where = f"row group {n}, {name(c[3])}: "
            try:
                bad += [where + b for b in chunk(buf, c, g[3], codec, crc, index)]
            except (ValueError, IndexError, KeyError, struct.error) as e:
                bad.append(where + f"{type(e).__name__}: {e}")
            start = c[3].get(11) or c[3][9]
            spans.append((start, start + c[3][7]))
            if c.get(6):
                columns.append((c[6], c[6] + c[7]))
            if c.get(4):
                offsets.append((c[4], c[4] + c[5]))
    bad += layout(buf, sorted(spans), sorted(columns), sorted(offsets))
    return bad


def layout(buf, spans, columns, offsets):
    """Nothing overlaps, and the page index lies as every reader takes it: all column indexes, then all offset indexes."""
    bad = []
    every = sorted(spans + columns + offsets)
    for a, b in zip(every, every[1:]):
        if a[1] > b[0]:
            bad.append(f"bytes {b[0]}..{a[1]} belong to two things")
    if every and every[0][0] < 4:
        bad.append("the first chunk lies in the magic")
    for kind, of in (("column", columns), ("offset", offsets)):
        if any(a[1] != b[0] for a, b in zip(of, of[1:])):
            bad.append(f"{kind} indexes do not follow one another")
    if columns and offsets and columns[-1][1] > offsets[0][0]:
        bad.append("offset indexes stand before column indexes")
    return bad


def chunk(buf, column, rows, codec, crc, index):
    bad, meta = [], column[3]
    data, values, size, nulls = [], 0, 0, 0
    encodings = set()
    for pos, head, length in pages(buf, meta):
        body = buf[pos + length : pos + length + head[3]]
        size += length + head[2]
        if 4 in head:
            if zlib.crc32(body) != head[4] & 0xFFFFFFFF:
                bad.append(f"page at {pos}: wrong CRC")
        elif crc:
            bad.append(f"page at {pos}: no CRC")
        if head[1] == 2:
            if pos != meta.get(11):
                bad.append("the dictionary page is not where the footer says")
            continue
        page = head.get(5) or head[8]
        encodings.add(page[2] if 5 in head else page[4])
        data.append((pos, length + head[3]))
        values += page[1]
        nulls += head[8][2] if 8 in head else 0
    if not data:
        return bad + ["no data page"]
    if data[0][0] != meta[9]:
        bad.append("the first data page is not where the footer says")
    if values != meta[5]:
        bad.append(f"{values} values in pages, {meta[5]} in the footer")
    if size != meta[6]:
        bad.append(f"{size} bytes uncompressed in pages, {meta[6]} in the footer")
    if not encodings <= set(meta[2]):
        bad.append(f"encodings {encodings} of pages are not among {meta[2]} of the footer")
    if 13 in meta and {s[2] for s in meta[13] if s[1] in (0, 3)} != encodings:
        bad.append("encoding_stats differ from the pages")
    if 13 in meta and sum(s[3] for s in meta[13] if s[1] in (0, 3)) != len(data):
        bad.append("encoding_stats count other pages")
    if codec and CODECS[meta[4]] not in (codec, "none" if meta[7] < 200 else codec):
        bad.append(f"compressed by {CODECS[meta[4]]}")
    stats = meta.get(12, {})
    if 3 not in stats:
        if crc:
            bad.append("no null_count")
    elif any(8 in head for _, head, _ in pages(buf, meta)) and stats[3] != nulls:
        bad.append(f"null_count {stats[3]}, pages say {nulls}")
    return bad + page_index(buf, column, rows, data, stats, index)


def page_index(buf, column, rows, data, stats, index):
    if not column.get(4) or not column.get(6):
        return ["no page index"] if index else []
    bad = []
    oi, ci = Thrift(buf, column[4]), Thrift(buf, column[6])
    places, cols = oi.struct(), ci.struct()
    if (oi.pos, ci.pos) != (column[4] + column[5], column[6] + column[7]):
        bad.append("the page index has another length than the footer says")
    if [(p[1], p[2]) for p in places[1]] != data:
        bad.append("the offset index does not name the pages")
    first = [p[3] for p in places[1]]
    if first[0] != 0 or any(a >= b for a, b in zip(first, first[1:])) or first[-1] >= rows:
        bad.append("the offset index has first rows that do not rise")
    if not len(cols[1]) == len(cols[2]) == len(cols[3]) == len(data):
        bad.append("the column index has another number of pages")
    if 5 in cols and 3 in stats and sum(cols[5]) != stats[3]:
        bad.append("null counts of the column index do not add up")
    return bad


def _leaf(array, path):
    """The entries of a leaf as an array, nulls where a parent is null, and the count of lists that hold nothing."""
    empty, path = 0, list(path)
    while path:
        if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
            empty += pc.sum(pc.equal(pc.fill_null(pc.list_value_length(array), 0), 0)).as_py() or 0
            array = pc.list_flatten(array)
            path = path[2:]  # the repeated group and its element, whatever their names
        else:
            array = pc.struct_field(array, path.pop(0))
    return array, empty


def check_values(path):
    """Statistics against the values that pyarrow reads, checksums verified, and schemas that must agree."""
    bad = []
    f = pq.ParquetFile(path, page_checksum_verification=True)
    types = f.schema_arrow
    raw = f.metadata.metadata or {}
    if b"ARROW:schema" in raw:
        stored = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(raw[b"ARROW:schema"])))
        if stored.names != types.names:
            bad.append(f"ARROW:schema has columns {stored.names}, the file {types.names}")
        elif stored.types != types.types:
            bad.append("ARROW:schema has other types than the file")
    bad += stale(raw, types)
    for n in range(f.num_row_groups):
        group, table = f.metadata.row_group(n), f.read_row_group(n)
        if table.num_rows != group.num_rows:
            bad.append(f"row group {n}: {table.num_rows} rows read, {group.num_rows} in the footer")
        for i in range(group.num_columns):
            col = group.column(i)
            stats = col.statistics
            path_ = col.path_in_schema.split(".")
            if stats is None or path_[0] not in table.column_names:
                continue
            array, empty = _leaf(table[path_[0]], path_[1:])
            bad += [f"row group {n}, {col.path_in_schema}: {b}" for b in _stats(stats, array, empty)]
    return bad


def _stats(stats, array, empty):
    bad = []
    if stats.has_null_count and stats.null_count != array.null_count + empty:
        bad.append(f"null_count {stats.null_count}, {array.null_count + empty} found")
    if stats.has_min_max and not pa.types.is_nested(array.type):
        found = pc.min_max(array).as_py()
        if found["min"] is not None and not (stats.min <= found["min"] and stats.max >= found["max"]):
            bad.append(f"min and max {stats.min!r}, {stats.max!r} do not hold {found}"[:300])
        for exact, a, b in (("is_min_exact", stats.min, found["min"]), ("is_max_exact", stats.max, found["max"])):
            if getattr(stats, exact, None) and a != b:
                bad.append(f"{exact}, but {a!r} is not {b!r}"[:300])
    return bad


def stale(metadata, types):
    """Metadata of other writers that no longer tells the truth about the columns."""
    bad = []
    if b"huggingface" in metadata:
        features = json.loads(metadata[b"huggingface"])["info"]["features"]
        if list(features) != types.names:
            bad.append(f"huggingface metadata has columns {list(features)}, the file {types.names}")
    if b"pandas" in metadata:
        columns = [c["field_name"] for c in json.loads(metadata[b"pandas"])["columns"]]
        if columns != types.names:
            bad.append(f"pandas metadata has columns {columns}, the file {types.names}")
    return bad
