"""Servers that take events on loopback: e-mail (aiosmtpd), MQTT (amqtt), HTTP. Arguments: certificate, key, file.

Prints their ports as one line of JSON, then writes a line of JSON into the file for everything that arrives, until its standard
input ends. The first message to each server of e-mail and the first request are refused for the moment; nobody is called gone.
"""

import asyncio
import http.server
import json
import os
import pathlib
import socket
import ssl
import sys
import threading
from email import message_from_bytes, policy
from urllib.parse import quote

from aiosmtpd.smtp import SMTP, AuthResult
from amqtt.broker import Broker
from amqtt.client import MQTTClient
from amqtt.plugins.authentication import BaseAuthPlugin

CERTIFICATE, KEY, FILE = sys.argv[1:4]
USER, PASSWORD = "farm", "p@ss:w/ö"
LOCK = threading.Lock()


class Login(BaseAuthPlugin):
    """Takes one user."""

    async def authenticate(self, *, session):
        return (session.username, session.password) == (USER, PASSWORD)


def taken(by, of):
    with LOCK, pathlib.Path(FILE).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"by": by, **of}) + "\n")


def context():
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTIFICATE, KEY)
    return tls


class Mailbox:
    def __init__(self, by):
        self.by, self.refused = by, False

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802
        if address.startswith("gone@"):
            taken("refused", {"server": self.by, "to": address})
            return "550 5.1.1 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        if not self.refused:
            self.refused = True
            return "451 4.3.0 not now"
        message = message_from_bytes(envelope.content, policy=policy.default)
        taken(
            self.by,
            {
                "from": envelope.mail_from,
                "to": envelope.rcpt_tos,
                "subject": message["Subject"],
                "id": message["Message-ID"],
                "text": message.get_content(),
                "tls": bool(session.ssl),
                "login": session.authenticated,
            },
        )
        return "250 taken"


def login(server, session, envelope, mechanism, data):
    right = (data.login.decode(), data.password.decode()) == (USER, PASSWORD)
    # Not handled: the server answers 535, else it would say nothing.
    return AuthResult(success=right, handled=False)


async def mail(by):
    """Starts a server of e-mail; returns its port."""
    starttls = {"tls_context": context(), "require_starttls": True} if by == "starttls" else {}
    needs_login = {"authenticator": login, "auth_required": True, "auth_require_tls": by == "starttls"}
    options = {} if by == "smtp" else {**starttls, **needs_login}
    mailbox = Mailbox(by)
    loop = asyncio.get_running_loop()
    wrapped = context() if by == "smtps" else None
    server = await loop.create_server(lambda: SMTP(mailbox, loop=loop, **options), "127.0.0.1", 0, ssl=wrapped)
    return server.sockets[0].getsockname()[1]


class Hook(http.server.BaseHTTPRequestHandler):
    refused = False

    def do_POST(self):  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if Hook.refused:
            taken("webhook", {"event": json.loads(body), "id": self.headers["Idempotency-Key"]})
        self.send_response(204 if Hook.refused else 503)
        Hook.refused = True
        self.end_headers()

    def log_message(self, *_):
        pass


async def broker(ports):
    listen = {"type": "tcp", "bind": "127.0.0.1:0", "max_connections": 10}
    tls = {**listen, "ssl": True, "certfile": CERTIFICATE, "keyfile": KEY}
    listeners = {"default": listen, "tls": tls}
    # A free port of each: the broker does not tell them.
    held = [socket.create_server(("127.0.0.1", 0)) for _ in listeners]
    for listener, one in zip(listeners.values(), held, strict=True):
        listener["bind"] = "127.0.0.1:{}".format(one.getsockname()[1])
        one.close()
    runs = Broker({"listeners": listeners, "plugins": {f"{__name__}.Login": {}}})
    await runs.start()
    ports["mqtt"], ports["mqtts"] = (int(one["bind"].rpartition(":")[2]) for one in listeners.values())
    reader = MQTTClient(config={"auto_reconnect": False})
    await reader.connect("mqtt://{}:{}@127.0.0.1:{}/".format(USER, quote(PASSWORD, safe=""), ports["mqtt"]))
    await reader.subscribe([("#", 1)])
    return reader


async def messages(reader):
    while True:
        message = await reader.deliver_message()
        taken("mqtt", {"topic": message.topic, "event": json.loads(message.data)})


async def main():
    ports = {}
    for name in ["smtp", "starttls", "smtps"]:
        ports[name] = await mail(name)
    hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    ports["webhook"] = hook.server_port
    reader = await broker(ports)
    print(json.dumps(ports), flush=True)
    reading = asyncio.create_task(messages(reader))
    await asyncio.to_thread(sys.stdin.read)
    reading.cancel()


if __name__ == "__main__":
    asyncio.run(main())
    # Threads of the servers still wait.
    os._exit(0)
