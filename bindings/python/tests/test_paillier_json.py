"""Keys and numbers of python-paillier's command line, and texts that are neither."""

import base64
import json

import pytest
import sotto as st
from hypothesis import given, settings
from hypothesis import strategies as some

ours = st.paillier


@pytest.fixture(scope="module")
def pair():
    return ours.generate_paillier_keypair(n_length=2048)


def test_the_command_line_reads_ours_and_we_read_its(pair, tmp_path):
    pytest.importorskip("phe")
    click = pytest.importorskip("click.testing")
    from phe.command_line import cli

    def run(*arguments):
        result = click.CliRunner().invoke(cli, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
        return result

    public, private = pair
    key, extracted = tmp_path / "private.json", tmp_path / "public.json"
    key.write_text(private.unprotected_json())
    run("extract", key, extracted)
    assert ours.PaillierPublicKey.from_json(extracted.read_text()) == public
    extracted.write_text(public.to_json())

    sent, answer = tmp_path / "sent.json", tmp_path / "answer.txt"
    run("encrypt", "--output", sent, extracted, "20.5")
    number = ours.EncryptedNumber.from_json(public, sent.read_text())
    assert number.exponent == -32 and private.decrypt(number) == 20.5
    sent.write_text((number * 2 - 1).to_json())
    run("decrypt", "--output", answer, key, sent)
    assert float(answer.read_text()) == 40.0


def test_a_key_of_the_command_line():
    """Read a private key made by `pheutil genpkey --keysize 2048`, and one in the older form."""
    pytest.importorskip("phe")
    click = pytest.importorskip("click.testing")
    from phe.command_line import cli

    text = click.CliRunner().invoke(cli, ["genpkey", "--keysize", "2048", "-"]).output
    text = text[text.index("{") :].splitlines()[0]
    private = ours.PaillierPrivateKey.from_json(text)
    assert private.decrypt(private.public_key.encrypt(-0.25)) == -0.25


def test_round_trips(pair):
    public, private = pair
    assert ours.PaillierPublicKey.from_json(public.to_json("boiler")) == public
    assert json.loads(public.to_json("boiler"))["kid"] == "boiler"
    again = ours.PaillierPrivateKey.from_json(private.unprotected_json().encode())
    assert again == private and (again.p, again.q) == (private.p, private.q)
    for value in (3, -0.1, 2.0**-200):
        sent = public.encrypt(value).to_json()
        found = ours.EncryptedNumber.from_json(public, sent)
        assert private.decrypt(found) == value and found.exponent <= -32
    assert json.loads(public.encrypt(3).to_json(exponent=None))["e"] == 0


def number(value):
    data = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(data).decode()


def test_the_older_form_with_lambda(pair):
    _, private = pair
    p, q = private.p, private.q
    totient = (p - 1) * (q - 1)
    fields = json.loads(private.unprotected_json())
    del fields["p"], fields["q"]
    for order in (totient, totient // 2):
        text = json.dumps(fields | {"lambda": number(order), "mu": number(3)})
        assert ours.PaillierPrivateKey.from_json(text).p == p
    with pytest.raises(st.WrongKeys):
        ours.PaillierPrivateKey.from_json(json.dumps(fields | {"lambda": number(totient + 2)}))


def changed(fields, **changes):
    kept = {name: value for name, value in (fields | changes).items() if value is not ...}
    return json.dumps(kept)


def test_hostile_keys(pair):
    public, private = pair
    good = json.loads(private.unprotected_json())
    texts = ["", "{", "[]", "null", '"x"', "NaN", "[" * 60000, " " * 70000, "{}", b"\xff\xfe"]
    texts += [
        changed(good, kty="RSA"),
        changed(good, kty=...),
        changed(good, key_ops=["encrypt"]),
        changed(good, key_ops=...),
        changed(good, p=...),
        changed(good, p=...),
        changed(good, q=5),
        changed(good, q="!!!"),
        changed(good, q="A"),
        changed(good, q="AAAA"),
        changed(good, q="é" * 10),
        changed(good, q="A" * 3000),
        changed(good, q=good["p"]),
        changed(good, p=number(private.p + 2)),
        changed(good, pub=...),
        changed(good, pub="n"),
        changed(good, pub=[]),
        changed(good, pub=good["pub"] | {"alg": "none"}),
        changed(good, pub=good["pub"] | {"n": number(15)}),
        changed(good, pub=good["pub"] | {"n": number(public.n + 2)}),
        changed(good, p=..., q=..., **{"lambda": number(1)}),
        changed(good, p=..., q=..., **{"lambda": number(public.n * 3)}),
    ]
    for text in texts:
        with pytest.raises(st.SottoError) as refused:
            ours.PaillierPrivateKey.from_json(text)
        for secret in (private.p, private.q):
            assert str(secret) not in str(refused.value)
            assert number(secret).rstrip("=") not in str(refused.value)
    for text in ("{}", private.unprotected_json().replace("DAJ", "RSA")):
        with pytest.raises(st.BadBytes):
            ours.PaillierPublicKey.from_json(text)
    with pytest.raises(TypeError):
        ours.PaillierPublicKey.from_json(good)


def test_hostile_numbers(pair):
    public, _ = pair
    value = json.loads(public.encrypt(1).to_json())["v"]
    for fields in (
        {"v": value},
        {"e": 0},
        {"v": int(value), "e": 0},
        {"v": value, "e": "0"},
        {"v": value, "e": True},
        {"v": value, "e": 1.5},
        {"v": value, "e": None},
        {"v": value, "e": 10**12},
        {"v": value, "e": -(10**12)},
        {"v": "-" + value, "e": 0},
        {"v": "0", "e": 0},
        {"v": "1_0", "e": 0},
        {"v": "٣", "e": 0},
        {"v": "", "e": 0},
        {"v": "9" * 2500, "e": 0},
        {"v": "9" * 5000, "e": 0},
        {"v": str(public.nsquare), "e": 0},
        {"v": str(public.n), "e": 0},
    ):
        with pytest.raises(st.SottoError):
            ours.EncryptedNumber.from_json(public, json.dumps(fields))


@given(text=some.one_of(some.text(max_size=60), some.binary(max_size=60)))
@settings(max_examples=100, deadline=None)
def test_any_text_is_refused_politely(text):
    with pytest.raises(st.SottoError):
        ours.PaillierPrivateKey.from_json(text)
