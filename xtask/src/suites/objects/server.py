"""A server of S3 (moto) on loopback with the bucket `plant`, and with faults that a test asks for. Prints its port. It ends when standard input does.

`POST /-/fault` takes JSON: the name of a fault, or null for none. Names:

errors    three of four requests are answered with 503
slow      each request waits a second
torn-put  half of each file is stored, and the answer says that all of it is
torn-get  half of each file is sent, then the connection is closed
lost      lists lack half of their names
silent    no request is answered
"""

import io
import json
import re
import sys
import threading
import time
import urllib.request

import moto.s3.models
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

# Files of moto go to temporary files beyond this size; all stay in memory here.
moto.s3.models.MAX_UPLOAD_SIZE = 1 << 30


class Faulty:
    def __init__(self, app):
        self.app = app
        self.fault = None
        self.count = 0
        self.healed = threading.Event()
        self.healed.set()

    def __call__(self, environ, start):
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length)
        if environ["PATH_INFO"] == "/-/fault":
            self.fault = json.loads(body)
            self.healed.clear() if self.fault else self.healed.set()
            start("200 OK", [("Content-Length", "0")])
            return [b""]
        self.count += 1
        fault, method = self.fault, environ["REQUEST_METHOD"]
        is_list = "list-type" in environ.get("QUERY_STRING", "")
        if fault == "errors" and self.count % 4:
            start("503 Slow Down", [("Content-Length", "0")])
            return [b""]
        if fault == "slow":
            time.sleep(1)
        if fault == "silent":
            self.healed.wait(90)
        if fault == "torn-put" and method == "PUT":
            body = body[: len(body) // 2]
            environ["CONTENT_LENGTH"] = str(len(body))
            for name in [name for name in environ if "CHECKSUM" in name or name == "HTTP_CONTENT_MD5"]:
                del environ[name]
        environ["wsgi.input"] = io.BytesIO(body)
        told = []
        answer = b"".join(self.app(environ, lambda *status: told.append(status[:2])))
        status, headers = told[-1]
        if fault == "lost" and is_list:
            names = re.findall(rb"<Contents>.*?</Contents>", answer, re.S)
            for name in names[::2]:
                answer = answer.replace(name, b"", 1)
            headers = [(name, value) for name, value in headers if name.lower() != "content-length"]
            headers.append(("Content-Length", str(len(answer))))
        start(status, headers)
        if fault == "torn-get" and method == "GET" and not is_list:
            return [answer[: len(answer) // 2]]
        return [answer]


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_):
        pass


def main():
    app = Faulty(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    make = urllib.request.Request(f"http://127.0.0.1:{server.server_port}/plant", method="PUT")
    urllib.request.urlopen(make).close()
    print(json.dumps({"port": server.server_port}), flush=True)
    sys.stdin.read()


main()
