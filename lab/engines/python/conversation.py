"""The protocol's common part of the engines in Python: a request a line, a reply a line. PROTOCOL.md describes it in
full."""

import json
import os
import sys

import clock


class Unsupported(Exception):
    def __init__(self):
        super().__init__("unsupported")


class Engine:
    """The last prepared parameters and keys. `schemes` maps names to classes, which take a request; `comparisons` maps
    methods to functions, which take one; `facts` are the fields of the reply to `version`."""

    def __init__(self, schemes, comparisons=None, **facts):
        self.schemes = schemes
        self.comparisons = comparisons or {}
        self.facts = facts
        self.session = None

    def version(self, _):
        return {
            **self.facts,
            "schemes": sorted(self.schemes),
            "comparisons": sorted(self.comparisons),
            "threads": 1,
        }

    def prepare(self, request):
        if request["scheme"] not in self.schemes:
            raise Unsupported
        self.session = None
        self.session = self.schemes[request["scheme"]](request)
        return self.session.prepared()

    def verify(self, request):
        session = self.current()
        if not hasattr(session, "verify"):
            raise Unsupported
        return {"outputs": session.verify(request)}

    def measure(self, request):
        operation = self.current().operations().get(request["operation"])
        if operation is None:
            raise Unsupported
        return clock.measure(operation(request), request)

    def exchange(self, request):
        """Carries out a step of a round trip. The cloud has no session: its class builds one from the request's
        parameters."""
        parameters = request.get("parameters")
        if parameters:
            answerer = self.schemes.get(parameters["scheme"])
            if not hasattr(answerer, "cloud"):
                raise Unsupported
            return answerer.cloud(parameters, request)
        if not hasattr(self.current(), "edge"):
            raise Unsupported
        return self.current().edge(request)

    def compare(self, request):
        if request["method"] not in self.comparisons:
            raise Unsupported
        return self.comparisons[request["method"]](request)

    def current(self):
        if self.session is None:
            raise ValueError("nothing is prepared: send prepare first")
        return self.session

    def answer(self, line):
        names = ("version", "prepare", "verify", "measure", "exchange", "compare")
        commands = {name: getattr(self, name) for name in names}
        try:
            request = json.loads(line)
            if request["do"] not in commands:
                raise Unsupported
            return commands[request["do"]](request)
        except KeyError as missing:
            return {"error": f"the request lacks {missing}"}
        except Exception as error:  # libraries raise exceptions of any kind
            return {"error": str(error) or type(error).__name__}

    def converse(self):
        # Some libraries print to standard output, which only replies may reach.
        replies = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        for line in sys.stdin:
            print(json.dumps(self.answer(line), separators=(",", ":")), file=replies, flush=True)


def vector_extensions():
    """Returns the processor's vector extensions for which libraries have code, if the system lists them."""
    try:
        with open("/proc/cpuinfo", encoding="ascii") as lines:
            flags = next(line for line in lines if line.startswith("flags")).split()
    except (OSError, StopIteration):
        return "unknown"
    return " ".join(flag for flag in ("avx2", "avx512f", "avx512dq", "avx512ifma") if flag in flags) or "none"
