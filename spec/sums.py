"""Sums without a lattice (docs/concepts/authentication.md): windows under pads of a stream cipher, and tags that add up with them.

A window has places: first those that it has once, then tick after tick, all columns of a tick together. Place p of window i holds
m[p] + K(i)[p] modulo 2^w. Its tag is sum(k[p]*m[p]) + sum(k'[c]*n[c]) + F(i) modulo P, where the n[c] are public counts. None stands
for an absent value: the place holds 0 and has no pad.
"""

from collections import namedtuple
from functools import lru_cache

from spec import blake3, chacha

P = (1 << 61) - 1
CONTEXTS = {name: f"sotto 2026 sums {name} v1" for name in ("pads", "tag pads", "tag key", "count key")}

# Bits of a place, and the range of its values, which includes 0.
Place = namedtuple("Place", "width least most")
# Places that a window has once, and those of each tick; counts likewise (numbers of them); ticks of the longest window.
Form = namedtuple("Form", "once tick counts_once counts_tick ticks")
StreamKeys = namedtuple("StreamKeys", "tag count")
StartKeys = namedtuple("StartKeys", "pads tag_pads")
# The part of a window or of a sum: integers modulo 2^w by place, counts, a tag.
Part = namedtuple("Part", "body counts tag")
# The owner's name of a window in a sum: keys of its start, pad number, presence by place (None: all present), weight.
Term = namedtuple("Term", "start number present ticks weight")


class Refused(Exception):
    """An answer that is not the sum that was asked for; the same whatever failed."""


def stream_keys(secret, stream):
    return StreamKeys(*(blake3.derive_key(CONTEXTS[name], secret + stream) for name in ("tag key", "count key")))


def start_keys(secret, stream, salt):
    return StartKeys(*(blake3.derive_key(CONTEXTS[name], secret + stream + salt) for name in ("pads", "tag pads")))


def word(key, number, part, index):
    """Word `index`, of 32 bits, of the key stream of a pad number and a part."""
    data = block(key, index // 16, number.to_bytes(8, "little") + part.to_bytes(4, "little"))
    return int.from_bytes(data[4 * (index % 16):4 * (index % 16) + 4], "little")


@lru_cache(maxsize=4096)
def block(key, counter, nonce):
    return chacha.block(key, counter, nonce, 20)


def residue(key, number, part, index, prime=P):
    """Residue `index` of a key stream: 61 bits of words 2*index and 2*index + 1. P itself, all ones, becomes 0."""
    low, high = (word(key, number, part, 2 * index + i) for i in (0, 1))
    return ((high << 32 | low) & P) % prime


def places(form, ticks):
    return list(form.once) + list(form.tick) * ticks


def counts_of(form, ticks):
    return form.counts_once + form.counts_tick * ticks


def first_words(form, ticks):
    """The first word of each place in the key stream: one word for at most 32 bits, else two."""
    at, firsts = 0, []
    for place in places(form, ticks):
        firsts.append(at)
        at += 1 if place.width <= 32 else 2
    return firsts


def pad(key, number, part, place, first):
    value = word(key, number, part, first)
    if place.width > 32:
        value |= word(key, number, part, first + 1) << 32
    return value % (1 << place.width)


def linear(keys, part, values, counts, prime=P):
    """sum(k[p]*m[p]) + sum(k'[c]*n[c]) modulo P."""
    products = [residue(keys.tag, 0, part, p, prime) * value for p, value in enumerate(values)]
    products += [residue(keys.count, 0, part, c, prime) * count for c, count in enumerate(counts)]
    return sum(products) % prime


def encrypt(form, keys, start, number, part, values, counts, prime=P):
    """A part of a window; values in the order of places, None where absent."""
    ticks = ticks_of(form, values)
    assert len(counts) == counts_of(form, ticks) and all(0 <= count < 1 << 16 for count in counts)
    body = []
    for place, first, value in zip(places(form, ticks), first_words(form, ticks), values):
        assert value is None or place.least <= value <= place.most
        body.append(0 if value is None else (value + pad(start.pads, number, part, place, first)) % (1 << place.width))
    tag = linear(keys, part, [value or 0 for value in values], counts, prime) + residue(start.tag_pads, number, part, 0, prime)
    return Part(body, list(counts), tag % prime)


def ticks_of(form, values):
    ticks, rest = divmod(len(values) - len(form.once), len(form.tick)) if form.tick else (0, len(values) - len(form.once))
    assert rest == 0 and 0 <= ticks <= form.ticks
    return ticks


def add(form, parts, weights, prime=P):
    """The cloud's sum, without a key: as long as the longest window."""
    ticks = max(ticks_of(form, part.body) for part in parts)
    body, counts, tag = [0] * len(places(form, ticks)), [0] * counts_of(form, ticks), 0
    for part, weight in zip(parts, weights):
        for p, value in enumerate(part.body):
            body[p] = (body[p] + weight * value) % (1 << places(form, ticks)[p].width)
        for c, count in enumerate(part.counts):
            counts[c] += weight * count
        tag = (tag + weight * part.tag) % prime
    return Part(body, counts, tag)


def interval(place, weights):
    """Least and largest value that a sum with these weights can have at a place."""
    up, down = sum(c for c in weights if c > 0), -sum(c for c in weights if c < 0)
    return place.least * up - place.most * down, place.most * up - place.least * down


def fits(form, weights):
    """True if (most - least)*sum|c| < 2^w at every place: then a sum is known from its residue modulo 2^w.

    At most 2^44 in all: sums of counts, each below 2^16, stay below 2^60.
    """
    total = sum(map(abs, weights))
    return total <= 1 << 44 and all((place.most - place.least) * total < 1 << place.width for place in (*form.once, *form.tick))


def open_sum(form, keys, part, terms, answer, prime=P):
    """The values of a sum, or Refused. The caller asks only for sums that fit."""
    weights = [term.weight for term in terms]
    assert fits(form, weights)
    ticks = max(term.ticks for term in terms)
    if len(answer.body) != len(places(form, ticks)) or len(answer.counts) != counts_of(form, ticks):
        raise Refused
    values, inside = [], True
    for p, (place, first, sent) in enumerate(zip(places(form, ticks), first_words(form, ticks), answer.body)):
        pads = sum(term.weight * pad(term.start.pads, term.number, part, place, first) for term in terms
                   if p < len(places(form, term.ticks)) and (term.present is None or term.present[p]))
        least, most = interval(place, weights)
        values.append(least + (sent - pads - least) % (1 << place.width))
        inside = inside and values[-1] <= most
    tag = linear(keys, part, values, answer.counts, prime)
    tag += sum(term.weight * residue(term.start.tag_pads, term.number, part, 0, prime) for term in terms)
    if (tag - answer.tag) % prime or not inside or any(abs(count) >= 1 << 60 for count in answer.counts):
        raise Refused
    return values


def pack(form, body):
    """Places one after the other, w bits each, least significant bit first, padded with zero bits to a byte."""
    joined, at = 0, 0
    for place, value in zip(places(form, ticks_of(form, body)), body):
        joined, at = joined | value << at, at + place.width
    return joined.to_bytes((at + 7) // 8, "little")


def unpack(form, ticks, data):
    joined, body = int.from_bytes(data, "little"), []
    for place in places(form, ticks):
        body.append(joined % (1 << place.width))
        joined >>= place.width
    if joined or len(data) != len(pack(form, body)):
        raise Refused
    return body


def pack_tag(tag):
    return tag.to_bytes(8, "little")


def unpack_tag(data):
    tag = int.from_bytes(data, "little")
    if len(data) != 8 or tag >= P:
        raise Refused
    return tag
