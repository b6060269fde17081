"""Tests of frames and values: what is sent arrives unchanged, and hostile bytes are rejected."""

from __future__ import annotations

import datetime as dt
import json
import math
import socket
import sys
import time
import zoneinfo
from contextlib import contextmanager, suppress
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from autograder.checking.findings import matches
from autograder.sandbox.channel import Channel, ConnectionClosed, TimedOut
from autograder.sandbox.guest import wire, wire_plain
from autograder.sandbox.guest.wire_plain import Iterated
from autograder.values import decode_value, encode_value


def opaque(value):
    """Return the encoder's representation of a value that is not sent."""
    return ["o", type(value).__name__]


def decoded(tree, blob=b""):
    """Return the value of a tree. Every special tag except "o" is refused."""

    def special(tag, items):
        if tag != "o":
            raise wire.WireError(tag)
        return ("opaque", *items)

    return wire.Decoder(bytearray(blob), special)(tree)


def there_and_back(value):
    """Return ``value`` after packing it into a frame and reading it back."""
    encode = wire.Encoder(opaque, 1 << 24)
    frame = wire.pack({"value": encode(value)}, encode.blobs)
    head_length, blob_length = wire.HEADER.unpack_from(frame)
    assert len(frame) == wire.HEADER.size + head_length + blob_length
    head = wire.parse_head(frame[wire.HEADER.size : wire.HEADER.size + head_length])
    return decoded(head["value"], frame[wire.HEADER.size + head_length :])


def containers(inner):
    """Draw lists, tuples and dicts of ``inner``."""
    keys = st.text(max_size=5) | st.integers() | st.booleans()
    lists = st.lists(inner, max_size=4)
    return lists | lists.map(tuple) | st.dictionaries(keys, inner, max_size=4)


offsets = st.timedeltas(dt.timedelta(hours=-23), dt.timedelta(hours=23))
zones = st.none() | offsets.map(dt.timezone) | st.sampled_from([dt.UTC, zoneinfo.ZoneInfo("Europe/Berlin")])
exact = (
    st.decimals(-(10**9), 10**9, allow_nan=False) | st.fractions() | st.sampled_from([Decimal("NaN"), Decimal("-0.00")])
)
days = (
    st.dates() | st.datetimes(timezones=zones) | st.times(timezones=zones) | st.timedeltas() | offsets.map(dt.timezone)
)
whole = st.integers(-(2**5000), 2**5000)
keys = st.recursive(
    st.none() | st.booleans() | whole | st.floats(allow_nan=False) | st.text(max_size=5) | st.binary(max_size=5) | days | exact,
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=4,
)  # fmt: skip
given_items = st.lists(whole, max_size=4).map(lambda items: Iterated(items, "map"))
near = st.integers(-(2**61), 2**61)
ranges = st.builds(range, near, near, near.filter(bool))
rest = (
    keys
    | st.sets(keys, max_size=4)
    | st.binary(max_size=9).map(bytearray)
    | ranges
    | given_items
    | st.dictionaries(keys, whole)
)
texts = nps.arrays(nps.unicode_string_dtypes(max_len=4), nps.array_shapes(min_dims=0, min_side=0))
times = nps.arrays(
    nps.datetime64_dtypes(endianness="=") | nps.timedelta64_dtypes(endianness="="),
    nps.array_shapes(min_dims=0, min_side=0),
)
numbers = st.booleans() | st.integers(-(2**1000), 2**1000) | st.floats() | st.complex_numbers()
plain = st.recursive(st.none() | numbers | st.text(max_size=20), containers, max_leaves=12)
real_dtypes = nps.boolean_dtypes() | nps.integer_dtypes() | nps.unsigned_integer_dtypes() | nps.floating_dtypes()
shapes = nps.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
arrays = nps.arrays(real_dtypes | nps.complex_number_dtypes(), shapes)


@given(plain)
def test_plain_values_come_out_as_they_went_in(value):
    """Scalars, strings, lists, tuples and dictionaries keep their type and value, including NaN and infinity."""
    assert repr(there_and_back(value)) == repr(value)


def written(value):
    """Return text that shows ``value`` with its types and with sets sorted, so that different values give different texts."""
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__} {sorted(map(written, value))}"
    if isinstance(value, list | tuple):
        more = getattr(value, "more", "")
        return f"{type(value).__name__} {more} {[*map(written, value)]}"
    if isinstance(value, dict):
        return f"dict {[(written(k), written(v)) for k, v in value.items()]}"
    return f"{type(value).__name__} {value!r} {getattr(value, 'fold', '')}"


@given(st.lists(rest | st.lists(rest), max_size=3))
def test_sets_dates_and_exact_numbers_come_out_as_they_went_in(value):
    """Built-in values, such as sets, dates and exact numbers, arrive unchanged over the wire and from a file."""
    assert written(there_and_back(value)) == written(value)
    assert written(decode_value(json.loads(json.dumps(encode_value(value))))) == written(value)


class Summer(dt.tzinfo):
    """A student's own time zone, two hours from UTC in summer. It has no offset without a date."""

    def utcoffset(self, moment):
        return None if moment is None else dt.timedelta(hours=2 if 4 <= moment.month <= 9 else 1)

    def tzname(self, _moment):
        return "../../etc/passwd"


@pytest.mark.parametrize("library", ["dateutil.tz", "a student's own"])
def test_a_zone_of_another_library_crosses_as_its_offset(library):
    """A time arrives with its zone's offset instead of the zone's name. A time without a date has no offset, so it is not sent."""
    zone = Summer() if library != "dateutil.tz" else pytest.importorskip(library).gettz("Europe/Berlin")
    for month, hours in [(1, 1), (7, 2)]:
        moment = dt.datetime(2024, month, 15, 12, 30, tzinfo=zone)
        found = there_and_back(moment)
        assert written(found.tzinfo) == written(dt.timezone(dt.timedelta(hours=hours)))
        assert matches(found, moment.replace(tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))) is None
        assert matches(found, moment.replace(tzinfo=zoneinfo.ZoneInfo("Europe/London"))) is not None
    assert there_and_back(dt.time(12, tzinfo=zone)) == ("opaque", "time")


@given(texts | times)
def test_arrays_of_texts_and_dates_come_out_as_they_went_in(value):
    """Arrays of strings and dates keep their shape and values, including NaT."""
    for after in (there_and_back(value), decode_value(json.loads(json.dumps(encode_value(value))))):
        assert (after.shape, after.dtype.kind) == (value.shape, value.dtype.kind)
        assert after.tolist() == value.tolist()


@given(st.lists(arrays, max_size=4))
def test_arrays_come_out_as_they_went_in(values):
    """Arrays keep their shape and elements, in the machine's byte order."""
    for before, after in zip(values, there_and_back(values), strict=True):
        assert after.shape == before.shape
        assert after.dtype == before.dtype.newbyteorder("=")
        np.testing.assert_array_equal(after, before)


def anything(inner):
    """Draw lists and objects of ``inner``, as in any JSON."""
    return st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=3)


def nearly_values(inner):
    """Draw lists that begin like the wire format's lists, dicts and arrays."""
    dtypes = st.sampled_from(["<f8", "|b1", "<i4", "|O", "<U4", "|V8", "<M8[s]", ">f8", "<f16", "f8", ""])
    sides = st.integers(-2, 2**70) | st.integers(0, 4) | st.booleans() | st.none()
    lists = st.lists(inner, max_size=3)
    array = st.tuples(st.just("a"), dtypes, st.lists(sides, max_size=4)).map(list)
    words = st.sampled_from([*wire_plain._READERS, "word"])
    parts = (
        inner
        | st.lists(inner | st.integers(0, 9), max_size=3)
        | st.sampled_from(["1E+9", "YWI=", "UTC", "<M8[D]", "map"])
    )
    plain_tree = st.tuples(words, st.lists(parts, max_size=9)).map(lambda x: [x[0], *x[1]])
    return plain_tree | lists.map(lambda x: ["l", *x]) | st.lists(lists, max_size=3).map(lambda x: ["d", *x]) | array


leaves = st.none() | st.integers() | st.floats() | st.text(max_size=8)
json_values = st.recursive(leaves | st.booleans() | st.sampled_from("agdltcosr"), anything, max_leaves=20)
nearly_right = st.recursive(leaves, nearly_values, max_leaves=8)


@given(json_values | nearly_right, st.binary(max_size=256))
def test_any_tree_is_a_value_or_refused(tree, blob):
    """Decoding any JSON and bytes from a child gives a value of a known type or raises ``WireError``."""
    try:
        value = decoded(tree, blob)
    except wire.WireError:
        return
    todo = [value]
    while todo:
        item = todo.pop()
        plain_types = (
            type(None),
            bool,
            int,
            float,
            str,
            complex,
            list,
            tuple,
            dict,
            np.ndarray,
            Iterated,
            zoneinfo.ZoneInfo,
        )
        plain_types += (
            set,
            frozenset,
            bytes,
            bytearray,
            range,
            Decimal,
            Fraction,
            dt.date,
            dt.datetime,
            dt.time,
            dt.timedelta,
            dt.timezone,
        )
        assert type(item) in plain_types or isinstance(item, np.generic)
        if isinstance(item, np.ndarray):
            assert item.dtype.kind in "biufcUMm"
        elif type(item) in (list, tuple, Iterated, set, frozenset):
            todo += item
        elif type(item) is dict:
            todo += [*item, *item.values()]


def test_keys_that_are_made_to_be_slow_are_refused():
    """Many keys with the same hash are refused, because looking them up could take minutes."""
    colliding = [n * sys.hash_info.modulus for n in range(40_000)]
    started = time.monotonic()
    for tree in (["set", *colliding], ["d", *[[n, 0] for n in colliding]], ["set", *[["t", n, 1] for n in colliding]]):
        with pytest.raises(wire.WireError, match="chosen to make lookups slow"):
            decoded(tree)
    assert time.monotonic() - started < 5
    assert decoded(["set", *colliding[:50]]) == set(colliding[:50])


@pytest.mark.parametrize(
    "tree",
    [["set", ["l"]], ["set", ["set", 1]], ["frozenset", ["d"]], ["d", [["l", 1], 2]], ["date", 2023, 2, 29], ["date", 1.0, 2, 3], ["date", True, 1, 1],
     ["bytes", "a"], ["bytes", "YWI=\n"], ["bytes", 3], ["decimal", "sNaN"], ["decimal", "1E+99999"], ["decimal", "1_0"], ["fraction", 1, 0],
     ["fraction", 1.5, 2], ["range", 1, 2, 0], ["range", 1, 2], ["int", "-"], ["int", "0x10"], ["offset", 2, 0, 0, "x"], ["zone", "../../etc/passwd"],
     ["zone", "/etc/localtime"], ["zone", "No/Where"], ["zone", "posix/UTC"], ["zone", ["UTC"]], ["datetime", 2024, 1, 1, 0, 0, 0, 0, 0, ["zone", 3]], ["time", 25, 0, 0, 0, 0, None],
     ["gives", "map", 1], ["gives", 3, False], ["gives"], ["texts", [2], "a"], ["texts", [1], 1], ["texts", [1001], "x" * 5000, *[""] * 1000],
     ["times", "<M8[x]", [1], 1], ["times", "<M8[D]", [1], 2**63], ["times", "|O", [1], 1], ["words", 1], ["timedelta", 10**10, 0, 0]],
    ids=repr,
)  # fmt: skip
def test_what_is_no_plain_value_is_refused(tree):
    """A tree is refused if it has wrong counts, types or ranges, mutable members, or a file name instead of a time zone."""
    with pytest.raises(wire.WireError):
        decoded(tree)


@pytest.mark.parametrize(
    "state",
    [[], [1], [1, 3, 0], [1, 3, 0, 0, 0], [1, 2, 0, 0], [1, 3, 2, 0], [1, 3, 0, 2**32], [2**128, 3, 0, 0], [1, 2**128 + 1, 0, 0], [-1, 3, 0, 0], [1.0, 3, 0, 0], [True, 3, 0, 0]],
    ids=repr,
)  # fmt: skip
def test_what_is_no_state_of_a_generator_is_refused(state):
    """A state is refused if it has wrong counts, types or ranges, or an even increment, which may make a generator repeat a number forever."""
    rng = np.random.default_rng(1)
    before = wire.rng_state(rng)
    with pytest.raises(wire.WireError, match="the state of a generator is not valid"):
        wire.set_rng_state(rng, state)
    assert wire.rng_state(rng) == before


@contextmanager
def received(data):
    """Return a channel on which a child has sent ``data`` and then disconnected."""
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(data)
    channel = Channel(ours, 1 << 10)
    yield channel
    channel.close()


@given(st.binary(max_size=400))
def test_any_bytes_are_a_frame_or_refused(data):
    """Reading any bytes from a child ends with a frame, an error or the end of the stream."""
    with received(data) as channel, suppress(wire.WireError, ConnectionClosed):
        while True:
            head, blob = channel.receive(time.monotonic() + 5)
            assert type(head) is dict
            assert len(blob) <= len(data)


@given(st.data())
def test_a_damaged_frame_is_read_refused_or_ended(data):
    """If one byte of a frame is changed, reading it gives a value, an error or the end of the stream."""
    encode = wire.Encoder(opaque, 1 << 20)
    frame = bytearray(wire.pack({"value": encode([np.arange(3.0), {"a": (1, "x")}, np.array(True)])}, encode.blobs))  # noqa: FBT003
    frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    with received(frame) as channel, suppress(wire.WireError, ConnectionClosed):
        head, blob = channel.receive(time.monotonic() + 5)
        decoded(head.get("value"), blob)


def test_a_number_that_no_float_holds_crosses_only_as_one():
    """An integer larger than any float has its own tag and a maximal size. Without the tag, it is rejected."""
    largest, larger = 2**wire.MAX_INT_BITS - 1, 2**wire.MAX_INT_BITS
    assert there_and_back([largest, -largest]) == [largest, -largest]
    assert math.isfinite(float(largest))
    assert there_and_back([larger, -larger, {larger}]) == [larger, -larger, {larger}]
    assert len(str(2**14_000 - 1)) < 4300  # so Python can show it
    assert there_and_back([2**14_000 - 1, 2**14_000]) == [2**14_000 - 1, ("opaque", "int")]
    for tree in (
        larger,
        ["l", -larger],
        ["c", larger, 0.0],
        ["d", [larger, 1]],
        ["d", [1, 2**1030]],
        ["int", "f" * 3501],
    ):
        with pytest.raises(wire.WireError):
            decoded(tree)


def test_a_bool_is_one_of_two():
    """A byte that is neither 0 nor 1 does not become an invalid bool."""
    assert decoded(["a", "|b1", [3]], b"\x00\x02\xff").view("u1").tolist() == [0, 1, 1]


@pytest.mark.parametrize("announced", [(wire.MAX_HEAD + 1, 0), (2, 1 << 40), (2, 1 << 63)])
def test_a_frame_that_announces_too_much_is_refused_unread(announced):
    """A frame above the limits is refused before anything is read or any memory is reserved."""
    refused = pytest.raises(wire.WireError, match="announces more bytes than allowed")
    with received(wire.HEADER.pack(*announced)) as channel, refused:
        channel.receive(time.monotonic() + 5)


def test_a_frame_that_trickles_is_not_waited_for():
    """The deadline applies to a whole frame, so a slow sender cannot extend it."""
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(b"\x08\0")
        with pytest.raises(TimedOut):
            Channel(ours, 1 << 20).receive(time.monotonic() + 0.05)
    ours.close()


@pytest.mark.parametrize(
    "text",
    [b"[" * 100_000, b"[" * 500_000 + b"]" * 500_000, b'{"a":' * 5000 + b"1" + b"}" * 5000, b"[1]", b"1", b"nul", b"\xff{}", b'{"a":' + b"9" * 5000 + b"}",
     b'{"a":[' + b"0," * 900_000 + b"0]}"],
    ids=["open", "nested", "nested objects", "list", "number", "half a word", "not ascii", "long number", "many parts"],
)  # fmt: skip
def test_json_made_to_exhaust_is_refused(text):
    """Deep, wide, endless or invalid JSON raises ``WireError``."""
    with pytest.raises(wire.WireError):
        wire.parse_head(text)


def nested(depth):
    """Return a frame's JSON with lists and objects nested to ``depth``, and with strings that look like closing brackets."""
    ends = r'"]]}\\\"]]}\\"'
    inside = depth - 1
    return f'{{"v":{"[" * (inside - 1)}{ends},{{{ends}:1}},{ends}{"]" * (inside - 1)}}}'.encode()


def test_nesting_ends_at_a_limit_of_our_own():
    """At most sixty-four levels are read, whatever the interpreter's limit is and whatever strings contain."""
    json.loads(nested(65))
    assert len(wire.parse_head(nested(wire.MAX_NESTING))) == 1
    for text in (nested(wire.MAX_NESTING + 1), b"[" * 65, b'{"v":"\\\\",' + nested(65)[1:]):
        with pytest.raises(wire.WireError, match="nested too deeply"):
            wire.parse_head(text)


def test_the_deepest_value_fits():
    """A value with the maximal depth is sent completely, also as a keyword argument."""
    value = 1.0
    for _ in range(12):
        value = {"k": value}
    tree = wire.Encoder(opaque, 1 << 20)(value)
    frame = wire.pack({"calls": [["f", [], [["x", tree]]]]})
    [[_name, _args, [[_key, back]]]] = wire.parse_head(frame[wire.HEADER.size :])["calls"]
    assert wire.Decoder(b"", opaque)(back) == value


ODD_DTYPES = st.sampled_from(["f8", "i4", "?", "c16", ">f8", "U3", "f4"])


@given(nps.arrays(ODD_DTYPES, nps.array_shapes(min_dims=0, min_side=0)), st.booleans())
def test_the_short_way_for_an_array_writes_the_same_bytes(array, transposed):
    """For an ordinary array, ``pack_array`` writes the same frame as the encoder. It leaves other values to the encoder."""
    value = array.T if transposed else array
    encode = wire.Encoder(opaque, 1 << 20)
    frame = wire.pack({"value": encode(value), "changed": []}, encode.blobs)
    short = wire.pack_array(value, 1 << 20)
    assert short in (frame, b"")
    assert bool(short) == (value.flags.c_contiguous and value.dtype.str in wire.DTYPES)
    others = [(np.ones(3), 23), (np.float64(1.0), 99), (np.ma.ones(2), 99)]
    assert [wire.pack_array(value, room) for value, room in others] == [b""] * 3


def test_what_is_too_big_to_write_is_said():
    """The writer rejects arrays and texts above the limits, so that an honest child can report it."""
    with pytest.raises(wire.TooBig, match="this array alone: 8 MiB"):
        wire.Encoder(opaque, 1 << 20)(np.zeros(1 << 20))
    with pytest.raises(wire.TooBig, match="more than 200,000 parts"):
        wire.Encoder(opaque, 1 << 20)([0] * 200_001)
    with pytest.raises(wire.TooBig):
        wire.pack({"x": ["x" * 60_000] * 100})


def test_cycles_and_depth_stay_inside():
    """A list that contains itself is sent only to a limited depth, below which it is opaque."""
    loop = []
    loop.append(loop)
    tree = wire.Encoder(opaque, 1 << 20)(loop)
    assert json.dumps(tree).count('"o"') == 1


def test_an_array_that_is_not_contiguous_arrives_as_one():
    """With ``layouts=True``, an array keeps its memory layout. Without it, the array arrives as a contiguous one."""
    square = np.arange(12.0).reshape(3, 4)
    for value in (square.T, square[:, ::2], np.arange(10)[::3], np.arange(24).reshape(2, 3, 4).swapaxes(0, 2)):
        assert not value.flags.c_contiguous
        for layouts in (True, False):
            encode = wire.Encoder(opaque, 1 << 20, layouts=layouts)
            tree = encode(value)
            found = wire.Decoder(b"".join(encode.blobs), lambda *_: None, copy=True)(tree)
            np.testing.assert_array_equal(found, value)
            assert found.flags.c_contiguous is not layouts
            assert found.flags.writeable
    with pytest.raises(wire.WireError):  # a student's answer must not specify a memory layout
        decoded(["v", "<f8", [2]], b"\0" * 16)
