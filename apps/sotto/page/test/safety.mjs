// Who gets in and who does not: codes, sessions, other pages of the browser, other users of the machine.
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { expect, go, holds, open_page, text_of } from "./browser.mjs";
import { free_port, run, start_console } from "./house.mjs";

/** A request with whatever headers. */
export function send(console, method, route, { headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: "127.0.0.1", port: console.port, method, path: route, headers: { host: `127.0.0.1:${console.port}`, ...(body ? { "content-type": "application/json" } : {}), ...headers } }, (response) => {
      const parts = [];
      response.on("data", (part) => {
        parts.push(part);
        // Events have no end.
        if (route === "/api/events") response.destroy();
      });
      response.on("close", () => resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts).toString() }));
    });
    request.setTimeout(10_000, () => request.destroy(new Error(`${method} ${route}: no answer in 10 s`)));
    request.on("error", reject);
    request.end(body ? JSON.stringify(body) : undefined);
  });
}
const begin = (console, body) => send(console, "POST", "/api/session", { body });
const json = (response) => JSON.parse(response.body);

/** Every route with its method, as the server's table has them. */
const ROUTES = [
  ["GET", "plant"], ["GET", "now"], ["GET", "events"], ["GET", "licences"], ["POST", "lock"], ["POST", "ask"], ["POST", "explain"], ["POST", "export/csv"], ["POST", "check"], ["POST", "complete"],
  ["POST", "questions"], ["DELETE", "questions/rooms"], ["PUT", "dashboards/main"], ["GET", "answers"], ["POST", "answers/x/verify"], ["GET", "alarms"], ["POST", "alarms/hot/mute"],
  ["POST", "alarms/hot/unmute"], ["POST", "alarms/hot/acknowledge"], ["POST", "plan"], ["GET", "keys"], ["POST", "devices"], ["GET", "devices/cellar"], ["GET", "devices/cellar/windows"],
  ["GET", "devices/cellar/windows/exact-5m/1"], ["POST", "devices/cellar/renew"], ["POST", "devices/cellar/rename"], ["POST", "devices/cellar/remove"], ["POST", "devices/cellar/qr"], ["GET", "no-such-route"],
];
const WRITES = [
  ["POST", "questions", { name: "x", question: "mean(living) by day", dry_run: false }], ["DELETE", "questions/rooms"], ["PUT", "dashboards/main", ["rooms"]], ["POST", "alarms/hot/mute", { for_ms: 1000 }],
  ["POST", "alarms/hot/unmute", {}], ["POST", "alarms/hot/acknowledge", {}], ["POST", "devices", { name: "x", channels: ["living"], dry_run: false }], ["POST", "devices/cellar/renew", {}],
  ["POST", "devices/cellar/rename", { name: "y" }], ["POST", "devices/cellar/remove", {}], ["POST", "devices/cellar/qr", {}],
];

export async function safety(report, browser, house) {
  const settings = () => fs.readFileSync(path.join(house.plant, "sotto.toml"), "utf8");
  const console_ = await start_console(house);
  let key = "";
  await report.check("the file that leads to the page opens a session in a browser", async () => {
    const page = await open_page(browser, console_, { code: null });
    await page.goto("about:blank");
    await page.goto(`file://${console_.file}`);
    await page.waitForSelector("nav");
    holds(!/code/i.test(page.url()), `the code stays in the address ${page.url()}`);
    const lengths = await page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length, performance.getEntriesByType("resource").some((one) => /code|[0-9a-f]{64}/i.test(one.name))]);
    expect(lengths, ["", 0, 0, false], "cookies, storage, addresses with a secret");
    expect((await begin(console_, { code: console_.code })).status, 403, "the same code again");
    expect(await page.context().cookies(), [], "cookies");
    await page.goBack().catch(() => {});
    holds(!/code=/.test(await page.evaluate(() => location.href)), "the history has the code");
    await page.context().close();
  });
  await report.check("a code works once", async () => {
    const code = await console_.new_code();
    const first = await begin(console_, { code });
    expect(first.status, 200, "`sotto console --code`");
    key = json(first).key;
    holds(/^[0-9a-f]{64}$/.test(key), "a key of 256 bits");
    expect((await begin(console_, { code })).status, 403, "the same code again");
    expect((await begin(console_, { code: "AAAA-AAAA-AAAA" })).status, 403, "another code");
    expect((await begin(console_, {})).status, 400, "no code");
    expect((await send(console_, "POST", "/api/code")).status, 401, "a code without the token of the file");
  });
  await report.check("without a session every route is 401", async () => {
    for (const [method, route] of ROUTES) {
      for (const headers of [{}, { authorization: "Bearer 00" }, { authorization: `Bearer ${"0".repeat(64)}` }, { cookie: `key=${key}` }]) {
        const { status } = await send(console_, method, `/api/${route}`, { headers, body: method === "GET" ? undefined : {} });
        expect(status, 401, `${method} /api/${route} with ${JSON.stringify(headers)}`);
      }
    }
    const authorization = `Bearer ${key}`;
    expect((await send(console_, "GET", "/api/plant", { headers: { authorization } })).status, 200, "with a session");
    expect((await send(console_, "GET", "/api/events", { headers: { authorization } })).status, 200, "events with a session");
    return `${ROUTES.length} routes, 4 ways each`;
  });
  await report.check("a bundle that another program has made is in no QR code", async () => {
    const asked = (headers) => send(console_, "POST", "/api/devices/cellar/qr", { headers, body: {} });
    const refused = await asked({ authorization: `Bearer ${key}` });
    expect([refused.status, /has made no bundle/.test(json(refused).error)], [404, true], "of a device that the command line added");
    expect((await asked({ authorization: `Bearer ${key}`, origin: "http://example.org" })).status, 421, "from another page");
  });
  await report.check("a device that could not be declared is refused before anything is made, here and in a shell", async () => {
    const before = settings();
    for (const [name, channel] of [["../outside", "living"], ["a b", "living"], ["attic", "no-such-channel"]]) {
      for (const dry_run of [true, false]) {
        const { status, body } = await send(console_, "POST", "/api/devices", { headers: { authorization: `Bearer ${key}` }, body: { name, channels: [channel], dry_run } });
        expect(status, 422, `${name} with ${channel}: ${body}`);
      }
      const shell = await house.run("device", "add", name, "--channels", channel, "--dry-run");
      holds(shell.code !== 0, `\`sotto device add ${name}\` was taken: ${shell.stdout}`);
    }
    expect(settings(), before, "sotto.toml");
    holds(!fs.existsSync(path.join(house.plant, "../outside.bundle")), "a bundle outside of the folder");
  });
  await report.check("a wrong Host, a foreign Origin, another site: refused", async () => {
    const authorization = `Bearer ${key}`;
    const wrong = [
      { host: `evil.example:${console_.port}` }, { host: "127.0.0.1" }, { host: "127.0.0.1:1" }, { host: `127.0.0.1:${console_.port}.evil.example` }, { origin: "http://evil.example" }, { origin: "null" },
      { origin: `https://127.0.0.1:${console_.port}` }, { origin: "http://127.0.0.1:1" }, { "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" },
    ];
    for (const headers of wrong) {
      for (const route of ["/api/plant", "/", "/api/session"]) {
        // A bookmark, or a link of another site, may lead to the page itself: it holds no secret.
        const { status, body } = await send(console_, route === "/api/session" ? "POST" : "GET", route, { headers: { authorization, ...headers }, body: route === "/api/session" ? { code: "AAAA" } : undefined });
        holds(status === 421 || (status === 403 && route === "/api/session"), `${route} with ${JSON.stringify(headers)}: expected 421, found ${status} ${body.slice(0, 100)}`);
      }
    }
    expect((await send(console_, "GET", "/", { headers: { host: `localhost:${console_.port}` } })).status, 421, "localhost, which may lead to another user's ::1");
    return `${wrong.length} wrong requests`;
  });
  await report.check("headers of every answer", async () => {
    for (const route of ["/", "/page.js", "/api/plant", "/nothing"]) {
      const { headers } = await send(console_, "GET", route);
      holds(/default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/.test(headers["content-security-policy"] ?? ""), `${route}: policy ${headers["content-security-policy"]}`);
      holds(!/unsafe/.test(headers["content-security-policy"]), "nothing unsafe in the policy");
      for (const [name, value] of Object.entries({ "x-content-type-options": "nosniff", "cache-control": "no-store", "referrer-policy": "no-referrer", "cross-origin-resource-policy": "same-origin" })) expect(headers[name], value, `${route}: ${name}`);
      expect(headers["access-control-allow-origin"] ?? null, null, `${route}: other origins`);
      expect(headers["set-cookie"] ?? null, null, `${route}: cookies`);
    }
  });
  await report.check("a page on another port can neither read nor post", () => another_page(browser, console_, key, settings));
  await report.check("the key is in no cookie, storage, address, title; nothing secret in `ps` and the output", async () => {
    const page = await open_page(browser, console_, { code: await console_.new_code() });
    const keys = [];
    page.on("request", (request) => keys.push(request.headers()["authorization"]?.slice(7)));
    await go(page, "#/questions");
    await go(page, "#/question/rooms");
    const own = keys.filter(Boolean)[0];
    holds(own, "the page sends its key in a header");
    const places = await page.evaluate(async () => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, location.href, document.title, history.state, window.name, performance.getEntries().map((one) => one.name), await indexedDB.databases(), await caches.keys()]));
    holds(!places.includes(own), "the page leaves its key somewhere");
    holds(!/\d+[.,]\d+ ?°C/.test(await page.title()), "a reading in the title");
    const arguments_ = fs.readdirSync("/proc").filter((one) => /^\d+$/.test(one)).map((one) => {
      try {
        return fs.readFileSync(`/proc/${one}/cmdline`, "latin1");
      } catch {
        return "";
      }
    }).join("\n");
    const token = fs.readFileSync(path.join(house.plant, "console/running"), "utf8").split("\n")[1];
    for (const [what, secret] of Object.entries({ key: own, "key of another": key, code: console_.code, token })) {
      holds(!arguments_.includes(secret), `the ${what} is in the arguments of a process`);
      holds(!console_.output.includes(secret), `the ${what} is in the console's output`);
    }
    holds(!/\d°C|living/.test(console_.output), `a reading in the console's output: ${console_.output}`);
    await page.reload();
    await page.waitForSelector("#code");
    holds(!/thermometer/.test(await page.content()), "a page that was loaded again shows devices");
    await page.context().close();
  });
  await report.check("files of mode 0600, gone at the end; Ctrl-C ends it though a page is open", async () => {
    const page = await open_page(browser, console_, { code: await console_.new_code() });
    const folder = path.join(house.plant, "console");
    expect(fs.readdirSync(folder).sort(), ["open.html", "running"], "files");
    for (const name of fs.readdirSync(folder)) expect((fs.statSync(path.join(folder, name)).mode & 0o777).toString(8), "600", `mode of ${name}`);
    expect((fs.statSync(folder).mode & 0o777).toString(8), "700", "mode of their folder");
    const since = Date.now();
    console_.child.kill("SIGINT");
    await Promise.race([console_.end, new Promise((resolve) => setTimeout(resolve, 8000))]);
    holds(console_.ended, "the console still runs after 8 s");
    expect(fs.existsSync(folder) ? fs.readdirSync(folder) : [], [], "files that stay");
    await page.waitForSelector(".banner.alert");
    await page.context().close();
    return `${Date.now() - since} ms`;
  });
  if (!console_.ended) await console_.stop();

  await report.check("another server has the port: it says so and ends", async () => {
    const port = await free_port();
    const other = http.createServer((_, response) => response.end("mine"));
    await new Promise((resolve) => other.listen(port, "127.0.0.1", resolve));
    const late = await start_console(house, "--port", String(port));
    holds(late.ended || !late.address, `it serves ${late.address}`);
    const code = await late.end;
    other.close();
    holds(code !== 0 && late.output.includes(String(port)) && /another program/.test(late.output), `exit ${code}: ${late.output}`);
    return late.output.trim().split("\n").at(-1);
  });
  await report.check("a session ends when nobody uses it", async () => {
    const short = await start_console(house, "--idle", "2s");
    const page = await open_page(browser, short);
    const { key: mine } = json(await begin(short, { code: await short.new_code() }));
    await page.waitForSelector("#code", { timeout: 6000 });
    const words = await text_of(page, "main");
    holds(/locked itself|ended/.test(words), `found ${words}`);
    // Requests that no person caused do not keep it.
    for (let i = 0; i < 8; i++) {
      await send(short, "GET", "/api/now", { headers: { authorization: `Bearer ${mine}`, "x-background": "1" } });
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect((await send(short, "GET", "/api/now", { headers: { authorization: `Bearer ${mine}` } })).status, 401, "a session of 2 s, later");
    holds(!/rooms|thermometer/.test(await page.content()), "a locked page holds names of the plant");
    await page.context().close();
    await short.stop();
    return words.slice(0, 70);
  });
  await report.check("--read-only refuses writes with 403, and shows no button that writes", async () => {
    const reader = await start_console(house, "--read-only");
    const { key: mine } = json(await begin(reader, { code: await reader.new_code() }));
    const before = settings();
    for (const [method, route, body] of WRITES) {
      const { status } = await send(reader, method, `/api/${route}`, { headers: { authorization: `Bearer ${mine}` }, body });
      expect(status, 403, `${method} /api/${route}`);
    }
    expect(settings(), before, "sotto.toml");
    const page = await open_page(browser, reader);
    for (const view of ["now", "questions", "question/rooms", "ask", "alarms", "cloud", "plan", "keys", "device/cellar"]) {
      await go(page, `#/${view}`);
      const buttons = await page.$$eval("main button", (list) => list.map((one) => one.textContent.trim()));
      const writing = buttons.filter((text) => /^(Arrange|Remove|Declare|Acknowledge|Mute|Unmute|Renew|Rename|Add a device|Verify)/.test(text));
      expect(writing, [], `buttons of ${view}`);
    }
    await page.context().close();
    await reader.stop();
    return `${WRITES.length} writes`;
  });
  await report.check("a plant with a passphrase: a wrong one is refused, the right one opens, one a second", () => passphrase(browser, house));
}

/** A page of another origin in the same browser, also under a name that leads to this machine. */
async function another_page(browser, console_, key, settings) {
  const got = [];
  const evil = http.createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      if (request.url === "/got") got.push(body);
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>evil</title><p>evil");
    });
  });
  await new Promise((resolve) => evil.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${evil.address().port}`;
  const before = settings();
  const context = await browser.newContext();
  const page = await context.newPage();
  try {
    // The owner's page is open in the same browser.
    const own = await context.newPage();
    await own.goto(`${console_.address}/#code=${await console_.new_code()}`);
    await own.waitForSelector("nav");
    for (const from of [origin, origin.replace("127.0.0.1", "localhost")]) {
      await page.goto(from);
      const found = await page.evaluate(async ([to, key]) => {
        const out = {};
        const body = JSON.stringify({ name: "evil", question: "mean(living) by day", dry_run: false });
        const tried = async (name, run) => (out[name] = await run().catch((error) => `refused: ${error.name}`));
        await tried("read", async () => (await fetch(`${to}/api/plant`)).text());
        await tried("read with a key", async () => (await fetch(`${to}/api/plant`, { headers: { authorization: `Bearer ${key}` } })).text());
        await tried("read without cors", async () => { const r = await fetch(`${to}/api/plant`, { mode: "no-cors", credentials: "include" }); return `${r.type} ${(await r.text()).length}`; });
        await tried("post", async () => (await fetch(`${to}/api/questions`, { method: "POST", headers: { "content-type": "application/json", authorization: `Bearer ${key}` }, body })).text());
        await tried("post without cors", async () => { const r = await fetch(`${to}/api/questions`, { method: "POST", mode: "no-cors", body }); return `${r.type} ${(await r.text()).length}`; });
        await tried("script", () => new Promise((resolve, reject) => { const s = document.createElement("script"); s.src = `${to}/page.js`; s.onload = () => resolve("loaded"); s.onerror = () => reject(new Error("blocked")); document.body.append(s); }));
        await tried("frame", () => new Promise((resolve) => { const f = document.createElement("iframe"); f.src = `${to}/`; f.onload = () => { let inside; try { inside = f.contentDocument ? "readable" : "closed"; } catch { inside = "closed"; } resolve(inside); }; document.body.append(f); }));
        const form = document.createElement("form");
        Object.assign(form, { action: `${to}/api/questions`, method: "POST", enctype: "text/plain", target: "posted" });
        const field = document.createElement("input");
        Object.assign(field, { name: body.slice(0, -1) + ',"x":"', value: '"}' });
        form.append(field);
        const frame = document.createElement("iframe");
        frame.name = "posted";
        document.body.append(frame, form);
        form.submit();
        await new Promise((resolve) => setTimeout(resolve, 300));
        return out;
      }, [console_.address, key]);
      for (const [name, value] of Object.entries(found)) holds(/^refused|^opaque 0$|^closed$/.test(value), `${name} from ${from}: ${value.slice(0, 200)}`);
    }
    // No frame shows the page: what it shows could be clicked through.
    const frames = page.frames().filter((frame) => frame.url().startsWith(console_.address));
    for (const frame of frames) holds(!(await frame.$("#code, nav").catch(() => null)), "the page is in a frame of another site");
    const opened = await page.evaluate((to) => { const w = window.open(to); return new Promise((resolve) => setTimeout(() => { try { resolve(w.closed || w.document === null ? "closed" : "readable"); } catch { resolve("closed"); } }, 300)); }, console_.address);
    expect(opened, "closed", "a window that the other page opened");
    expect(settings(), before, "sotto.toml");
    expect(got, [], "what the other page got");
  } finally {
    await context.close();
    evil.closeAllConnections();
    evil.close();
  }
}

async function passphrase(browser, house) {
  const folder = path.join(house.folder, "sealed");
  const environment = { ...house.options.env, SOTTO_PLANT: folder };
  const options = { cwd: house.folder, env: environment };
  const words = path.join(house.folder, "words");
  fs.writeFileSync(words, "a lake of seven names\n", { mode: 0o600 });
  const sotto = path.join(house.bin, "sotto");
  for (const args of [["init", "sealed", "--listen", `127.0.0.1:${await free_port()}`], ["channel", "add", "living", "--range", "0..50", "--resolution", "0.1", "--every", "5m"], ["question", "add", "daily", "mean(living) by day"], ["passphrase", "set", "--passphrase-file", words]]) {
    const done = await run(sotto, args, options);
    holds(done.code === 0, `sotto ${args.join(" ")}: ${done.stderr}`);
  }
  const sealed = await start_console({ ...house, plant: folder, options });
  holds(!sealed.ended, `it ends without a terminal: ${sealed.output}`);
  const page = await open_page(browser, sealed, { code: null });
  try {
    await page.fill("#code", "a lake of six names");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".fault");
    const refused = await text_of(page, ".fault");
    // Two at once: on a busy machine the first one was more than a second ago.
    const again = await Promise.all([0, 1].map(() => begin(sealed, { passphrase: "a lake of seven names" })));
    holds(again.some((one) => one.status === 429), `two at once: ${again.map((one) => one.status)}`);
    await page.waitForTimeout(1100);
    await page.fill("#code", "a lake of seven names");
    await page.keyboard.press("Enter");
    await page.waitForSelector("nav");
    expect(page.lines.filter((line) => !/status of 4\d\d/.test(line)), [], "lines in the browser's console");
    holds(!sealed.output.includes("lake") && !fs.existsSync(path.join(folder, "secrets/lake")), "the passphrase is in the output");
    return refused.slice(0, 80);
  } finally {
    await page.context().close();
    await sealed.stop();
  }
}
