"""Requests to the cloud over HTTP."""

import json
import sqlite3

from house import DEVICES


def reading(house):
    """Requests of the owner that change nothing, on the store as it was kept."""
    group = "http-read"
    for path in ("/healthz", "/readyz", "/v1/openapi.json"):
        house.request(group, "GET", path, token=False)
    for path in (
        "/v1/devices",
        "/v1/devices?limit=2",
        "/v1/devices?after=legacy&limit=2",
        "/v1/devices?limit=x",
        "/v1/identity",
        "/v1/limits",
        "/v1/jobs",
        "/v1/jobs?limit=1",
        "/v1/envelopes?limit=1000",
        "/v1/envelopes?device=tank&limit=3",
        "/v1/envelopes?device=tank&stream=exact-1h&after_sequence=2",
        "/v1/envelopes?device=meter&ended_after=1268400000000&started_before=1268410000000",
        "/v1/envelopes?limit=2&after=meter/exact-15m/7",
        "/v1/envelopes?after=nonsense",
        "/nothing",
        "/v1/nothing",
    ):
        house.request(group, "GET", path)
    for method, path in (("GET", "/v1/devices"), ("GET", "/v1/envelopes"), ("GET", "/v1/limits")):
        house.request(group, method, path, token=False)
        house.request(group, method, path, token="an-other-token-of-some-length")
    for method, path in (
        ("POST", "/v1/devices"),
        ("DELETE", "/v1/limits"),
        ("HEAD", "/v1/limits"),
        ("PUT", "/healthz"),
    ):
        house.request(group, method, path)
    listed = json.loads(house.request(group, "GET", "/v1/envelopes?limit=1000", quiet=True))
    for entry in listed:
        for part in ("", "/body", "/envelope"):
            house.request("http-envelopes", "GET", f"/v1/envelopes/{entry['id']}{part}")
    for wrong in ("0" * 32, "xyz", "0" * 31):
        house.request("http-envelopes", "GET", f"/v1/envelopes/{wrong}")
        house.request("http-envelopes", "GET", f"/v1/envelopes/{wrong}/body")
    streams = sorted({(entry["device"], entry["stream"]) for entry in listed})
    for device, stream in [*streams, ("boiler", "nothing"), ("nobody", "exact-1h")]:
        house.request("http-log", "GET", f"/v1/log?device={device}&stream={stream}")
    house.request("http-log", "GET", "/v1/log?device=boiler&stream=exact-1h&from=2&limit=2")
    house.request("http-log", "GET", "/v1/log?device=boiler")
    for job in json.loads(house.request(group, "GET", "/v1/jobs", quiet=True)):
        house.request(group, "GET", f"/v1/jobs/{job['job']}")
        house.request(group, "GET", f"/v1/jobs/{job['job']}/outputs/0")
        house.request(group, "GET", f"/v1/jobs/{job['job']}/outputs/9")
    house.request(group, "GET", f"/v1/jobs/{'0' * 32}")
    house.request(group, "GET", f"/v1/keys/{listed[0]['parameter_id']}/{listed[0]['key_id']}")
    return listed


def sums(house, listed):
    """Sums over HTTP, and their refusals."""
    group = "http-sums"
    ids = {
        device: [entry["id"] for entry in listed if entry["device"] == device and entry["stream"] == "exact-1h"]
        for device in DEVICES
    }

    def ask(envelopes, *wanted):
        body = json.dumps(
            {"envelopes": envelopes, "sums": [dict(zip(("envelopes", "places", "weights"), sum)) for sum in wanted]}
        )
        house.request(group, "POST", "/v1/sums", body=body, headers={"Content-Type": "application/json"})

    ask(ids["boiler"][:1], ([0, 1], [0, 25]))
    ask(ids["boiler"][:2], ([0, 2], [0, 25]), ([1, 1], [5, 50]), ([0, 1], [24, 76]))
    ask(ids["boiler"], ([0, 6], [0, 25]))
    ask(ids["boiler"][:2], ([0, 2], [0, 2], [1, -2, 3, -4]))
    ask(ids["boiler"], ([0, 99], [0, 25]))
    ask(ids["boiler"][:1], ([0, 1], [0, 9999]))
    ask(ids["boiler"][:1] + ids["tank"][:1], ([0, 2], [0, 25]))
    ask(["0" * 32], ([0, 1], [0, 25]))
    ask([], ([0, 1], [0, 25]))
    for body in ("{", "{}", '{"envelopes": [], "sums": [], "more": 1}', "[" * 1000):
        house.request(group, "POST", "/v1/sums", body=body, headers={"Content-Type": "application/json"})
    with sqlite3.connect(house.folder / "fleet/cloud/cloud.sqlite") as store:
        fleet = store.execute("SELECT hex(id) FROM fleets").fetchone()[0].lower()
    store.close()
    for body in (
        {"most": 1000, "start": 1735689600000, "ticks": 24},
        {"most": 2, "start": 1735689600000, "ticks": 24},
        {"most": 1000, "start": 1735689600000, "ticks": 25},
        {"most": 0, "start": 1735689600000, "ticks": 24},
        {"most": 5, "start": 1, "ticks": 24},
    ):
        house.request(
            group,
            "POST",
            f"/v1/fleets/{fleet}/sums",
            plant="fleet",
            body=json.dumps(body),
            headers={"Content-Type": "application/json"},
        )
    house.request(
        group,
        "POST",
        f"/v1/fleets/{'0' * 32}/sums",
        plant="fleet",
        body=json.dumps({"most": 1000, "start": 1735689600000, "ticks": 24}),
    )


def uploads(house, listed):
    """Uploads of stored envelopes again, damaged ones, and other writes that are refused."""
    group = "http-upload"

    def send(body, key):
        headers = {"Content-Type": "application/octet-stream"} | ({"Idempotency-Key": key} if key else {})
        house.request(group, "POST", "/v1/envelopes", token=False, body=body, headers=headers)

    for device, stream in (
        ("boiler", "exact-1h"),
        ("tank", "real-1h"),
        ("well", "steps-1h"),
        ("legacy", "exact-1h"),
        ("legacy", "real-1h"),
        ("meter", "exact-15m"),
    ):
        entry = next(entry for entry in listed if (entry["device"], entry["stream"]) == (device, stream))
        body = (house.folder / "plant/cloud/envelopes" / entry["id"]).read_bytes()
        key = f"{device}.{stream}.{entry['sequence']}"
        send(body, key)
        if device in ("boiler", "legacy"):
            for wrong in (None, "x", "x y", f"{device}.{stream}.77", "k" * 200):
                send(body, wrong)
            send(body[:-1], key)
            send(body + b"\0", key)
            send(body[:-40] + bytes([body[-40] ^ 1]) + body[-39:], key)
            send(b"nothing", key)
            send(body[:4] + b"\x09" + body[5:], key)
            send(body[:5] + b"\x02" + body[6:], key)
    send(b"", "boiler.exact-1h.0")
    for path, body in (("/v1/parameters", b"nothing"), ("/v1/plans", b"nothing"), ("/v1/keys", b"nothing")):
        house.request(group, "PUT", path, body=body)
        house.request(group, "PUT", path, body=body, token=False)
    for path in ("/v1/position", "/v1/newest"):
        house.request(group, "POST", path, token=False, body=b"nothing")
    for body in (
        "{",
        "{}",
        '{"keys":[],"streams":[],"verifying_key":"00"}',
        json.dumps({"keys": [], "streams": ["00"], "verifying_key": "0" * 64}),
    ):
        house.request(group, "PUT", "/v1/devices/boiler", body=body)
    house.request(group, "PUT", "/v1/devices/a%20b", body=json.dumps({"keys": [], "verifying_key": "0" * 64}))
    house.request(group, "DELETE", "/v1/devices/nobody")
    house.request(group, "DELETE", "/v1/envelopes?device=nobody&before=1")
    house.request(group, "DELETE", "/v1/envelopes?device=boiler")
    house.request(group, "POST", "/v1/jobs", body=json.dumps({"plan": "0" * 64, "inputs": []}))
    house.request(group, "POST", "/v1/jobs", body=json.dumps({"plan": "0" * 64, "inputs": ["0" * 32], "key": "x"}))
    house.request(group, "PUT", "/v1/plans", body=next((house.folder / "plant/cloud/plans").iterdir()).read_bytes())
    with sqlite3.connect(house.folder / "plant/cloud/cloud.sqlite") as store:
        frames = [frame for (frame,) in store.execute("SELECT frame FROM parameters ORDER BY id")]
    store.close()
    for frame in frames:
        house.request(group, "PUT", "/v1/parameters", body=frame)


def keys(house):
    """Evaluation keys that questions have brought to the cloud."""
    with sqlite3.connect(house.folder / "plant/cloud/cloud.sqlite") as store:
        found = store.execute("SELECT hex(parameter_id), hex(key_id) FROM evaluation_keys ORDER BY 1, 2").fetchall()
    store.close()
    for parameters, key in found:
        path = f"/v1/keys/{parameters.lower()}/{key.lower()}"
        house.request("http-keys", "GET", path)
        house.request("http-keys", "GET", path, token=False)
        house.request("http-keys", "DELETE", f"{path}/transfers/{'0' * 32}")
