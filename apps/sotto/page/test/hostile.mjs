// A proxy between the console and the cloud, which behaves as it is told: it passes, is away, is slow, lies, or answers with
// texts, sizes and bytes that no cloud should send.
import http from "node:http";

const TEXT = `<img src=x onerror="window.__stolen=1"><script>window.__stolen=2</script>`;
/** Bytes of an answer whose size is a lie. */
const PIECE = Buffer.alloc(1 << 16, 0x20);

const MODES = {
  /** The connection ends without a word. */
  away: (_, response) => response.destroy(),
  /** A refusal whose words are a script. */
  words: (_, response) => {
    const problem = { type: "about:blank", title: TEXT, status: 400, detail: TEXT, error: TEXT, code: TEXT, reason: TEXT };
    response.writeHead(400, { "content-type": "application/problem+json" }).end(JSON.stringify(problem));
  },
  garbage: (_, response) => response.writeHead(200, { "content-type": "application/json" }).end(`{"devices": [[[[${TEXT}`),
  /** Says that it is large, and is not. */
  huge: (_, response) => {
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": String(2 ** 45) });
    response.write(PIECE);
  },
  /** Sends as fast as it is read, without end. */
  endless: (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const more = () => {
      while (!response.destroyed && response.write(PIECE));
    };
    response.on("drain", more);
    more();
  },
};

export async function hostile(cloud) {
  const state = { mode: "pass", delay: 0, sent: 0 };
  const agent = new http.Agent({ keepAlive: true });
  const server = http.createServer((request, response) => {
    const act = MODES[state.mode];
    if (act) {
      request.resume();
      return act(request, response);
    }
    const lies = state.mode === "lies" && /\/v1\/.*(sum|result|output|job|batch)/.test(request.url);
    const forward = () => {
      const onward = http.request({ agent, host: "127.0.0.1", port: cloud, method: request.method, path: request.url, headers: request.headers }, (answer) => {
        if (!lies) {
          response.writeHead(answer.statusCode, answer.headers);
          answer.on("error", () => response.destroy());
          return answer.pipe(response);
        }
        const parts = [];
        answer.on("data", (part) => parts.push(part));
        answer.on("end", () => {
          const body = Buffer.concat(parts);
          // One bit of the second half: a value, not a head.
          const at = Math.floor(body.length * 0.8);
          if (body.length > 64) body[at] ^= 1;
          response.writeHead(answer.statusCode, answer.headers).end(body);
        });
        return answer;
      });
      onward.on("error", () => response.destroy());
      request.pipe(onward);
    };
    state.seen?.push(`${request.method} ${request.url}`);
    return state.delay > 0 ? setTimeout(forward, state.delay) : forward();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: server.address().port,
    /** One of pass, lies, and those of MODES. */
    set: (mode, delay = 0) => {
      Object.assign(state, { mode, delay });
      server.closeIdleConnections();
    },
    /** What was asked for since the first call. */
    watch: () => (state.seen ??= []),
    close: () => {
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
}
