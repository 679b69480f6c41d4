// A house for the tests: a plant, its cloud behind a proxy, and three agents that have sent sixty days of readings. The same
// readings each time, but for the day on which they end: one hour before now.
import { execFile, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { hostile } from "./hostile.mjs";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Runs of one command line at most. */
const LIMIT_MS = 60_000;
/** A program that shall end, and does not, is killed after this time. */
const STOP_MS = 5000;

/** A text that is a script wherever somebody takes it for HTML. */
export const SCRIPT = `<img src=x onerror="window.__stolen=1"><script>window.__stolen=2</script>`;

export const CHANNELS = {
  living: ["--unit", "°C", "--range", "-10..60", "--resolution", "0.1", "--every", "5m"],
  bath: ["--unit", "°C", "--range", "-10..60", "--resolution", "0.1", "--every", "5m"],
  cellar: ["--unit", "°C", "--range", "-10..60", "--resolution", "0.1", "--every", "5m"],
  energy: ["--kind", "counter", "--unit", "kWh", "--range", "0..99999.9", "--resolution", "0.1", "--every", "15m", "--at-most", "5"],
  door: ["--states", "closed,open", "--every", "1m"],
};
export const QUESTIONS = {
  rooms: "mean(living), mean(bath), max(bath) by day",
  cellar_week: "mean(cellar), min(cellar), max(cellar) by week",
  used: "increase(energy) by day",
  used_hour: "increase(energy) by hour of day",
  open: "time(door = open), changes(door) by day",
  living_spread: "stddev(living) by day",
  heat: "mean(living) by hour of day and weekday",
  living_bins: "histogram(living, 16)",
  damp: "mean(bath) - mean(cellar) by day",
  hours: "mean(living) by hour",
  cool: "count(living < 20) by week",
  month_use: "increase(energy) by month",
};
export const DEVICES = { thermometer: "living,bath", cellar: "cellar", gateway: "energy,door" };

/** Runs a program to its end. */
export function run(program, args, options = {}) {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: LIMIT_MS, maxBuffer: 1 << 28, ...options }, (error, stdout, stderr) => resolve({ code: error ? (error.code ?? 1) : 0, stdout, stderr }));
  });
}

async function must(program, args, options) {
  const done = await run(program, args, options);
  if (done.code !== 0) throw new Error(`${path.basename(program)} ${args.join(" ")}: ${done.code}\n${done.stdout}${done.stderr}`);
  return done.stdout;
}

export const free_port = () =>
  new Promise((resolve, reject) => {
    const server = net.createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Waits until `is` returns something that is true. */
export async function until(is, what, limit = 15_000) {
  const end = Date.now() + limit;
  for (;;) {
    const found = await is();
    if (found) return found;
    if (Date.now() > end) throw new Error(`${what} did not come about in ${limit / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Numbers in 0..1, the same each time. */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Writes the files of the sensors. Returns the readings of the thermometer: time to [living, bath]. */
export function write_readings(folder, days, now = Date.now()) {
  const random = seeded(5);
  const noise = (of) => (random() + random() + random() - 1.5) * of;
  const end = Math.floor((now - HOUR) / (15 * MINUTE)) * 15 * MINUTE;
  const start = Math.floor((end - days * DAY) / DAY) * DAY;
  const warm = ["time,living,bath"];
  const cellar = ["time,cellar"];
  const gateway = [];
  const readings = new Map();
  let total = 12345;
  for (let at = start; at <= end; at += 5 * MINUTE) {
    const time = new Date(at).toISOString().slice(0, 19) + "Z";
    const hour = (at % DAY) / HOUR;
    const season = Math.cos(((at / DAY - 20) / 365) * 2 * Math.PI);
    const living = 20.5 + 1.2 * Math.sin(((hour - 9) / 24) * 2 * Math.PI) - 0.6 * season + noise(0.3);
    // In its last hours the bath is hot, so that an alarm lasts.
    const bath = at > end - 9 * HOUR ? 26.4 + noise(0.3) : living + (hour >= 5 && hour < 6.5 ? 3 : 0.6) + noise(0.3);
    // Four days of the thermometer are missing.
    if (at < start + 20 * DAY || at > start + 24 * DAY) {
      warm.push(`${time},${living.toFixed(1)},${bath.toFixed(1)}`);
      readings.set(at, [Number(living.toFixed(1)), Number(bath.toFixed(1))]);
    }
    cellar.push(`${time},${(11 - 2.5 * season + noise(0.2)).toFixed(1)}`);
    if (at % (15 * MINUTE) === 0) {
      total += (0.25 + (hour >= 16 && hour < 21 ? 0.9 : 0.1) + random() * 0.1 + (5 + 5 * season) * 0.08) / 4;
      gateway.push({ time, energy: Number(total.toFixed(1)), odd: Math.round(50 + 40 * Math.sin(at / DAY)), odd_state: (at / DAY) % 2 < 1 ? 0 : 1 });
    }
  }
  for (let day = start; day < end - DAY; day += DAY) {
    for (const [hour, most] of [[6, 6], [7, 12], [16, 20], [18, 4]]) {
      if (random() > 0.8) continue;
      const opened = day + hour * HOUR + Math.floor(random() * 40) * MINUTE;
      const closed = opened + (1 + Math.floor(random() * most)) * MINUTE;
      for (const [at, state] of [[opened, "open"], [closed, "closed"]]) gateway.push({ time: new Date(at).toISOString().slice(0, 19) + "Z", door: state });
    }
  }
  const write = (name, lines) => fs.writeFileSync(path.join(folder, name), lines.join("\n") + "\n");
  write("warm.csv", warm);
  write("cellar.csv", cellar);
  gateway.sort((a, b) => (a.time < b.time ? -1 : 1));
  write("gateway.jsonl", gateway.map((row) => JSON.stringify(row)));
  return { readings, end };
}

/** A unit and states that are scripts wherever somebody takes them for HTML. */
export const HOSTILE = {
  channels: { odd: ["--unit", "<img src=x onerror=__stolen=3>", "--range", "0..100", "--resolution", "1", "--every", "15m"], odd_state: ["--states", "<s>a</s>,<img src=x onerror=__stolen=4>", "--every", "15m"] },
  // The last one is computed on lattice ciphertexts, whose answers carry no tags.
  questions: { odd: "mean(odd) by day", odd_time: "changes(odd_state) by day", curve: ["mean(polynomial(odd, [1, 0.2, 0.01])) by week", "--precision", "0.5"] },
  devices: { gateway: "energy,door,odd,odd_state" },
};

/** Makes the house in a new folder. `more` has further channels, questions (their text, or the text with its arguments) and devices. */
export async function build(folder, bin, days, more = {}) {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const plant = path.join(folder, "plant");
  const program = (name) => path.join(bin, name);
  const { readings, end } = write_readings(folder, days);
  const port = await free_port();
  const environment = { ...process.env, SOTTO_PLANT: plant };
  // Programs of this house find no terminal, no browser and no passphrase of the person who runs the tests.
  for (const name of ["DISPLAY", "WAYLAND_DISPLAY", "SOTTO_PASSPHRASE_FILE"]) delete environment[name];
  const options = { cwd: folder, env: environment };
  const sotto = (...args) => must(program("sotto"), args, options);
  await must(program("sotto"), ["init", "plant", "--listen", `127.0.0.1:${port}`, "--time-zone", "Europe/Vienna"], options);
  for (const [name, words] of Object.entries({ ...CHANNELS, ...more.channels })) await sotto("channel", "add", name, ...words);
  for (const [name, text] of Object.entries({ ...QUESTIONS, ...more.questions })) await sotto("question", "add", name, ...[text].flat());
  const since = new Date(end - 2 * DAY).toISOString().slice(0, 10);
  await sotto("alarm", "add", "hot", "bath > 25 for 2 windows", "--since", since);
  await sotto("alarm", "add", "cold", "cellar < 3", "--since", since);
  await sotto("alarm", "add", "quiet", "silent for 3d", "--since", since);
  for (const [name, channels] of Object.entries({ ...DEVICES, ...more.devices })) await sotto("device", "add", name, "--channels", channels, "--bundle", path.join(plant, `${name}.bundle`));

  const house = { folder, plant, bin, port, options, readings, end, sotto, run: (...args) => run(program("sotto"), args, options), running: [] };
  await start_cloud(house);
  const send = (device, ...files) => must(program("sotto-agent"), ["run", "--bundle", path.join(plant, `${device}.bundle`), ...files], options);
  await Promise.all([
    send("thermometer", "--csv", "warm.csv"),
    send("cellar", "--csv", "cellar.csv"),
    send("gateway", "--json-lines", "gateway.jsonl"),
  ]);
  // From now on the owner asks through a proxy, which lies when it is told to.
  house.proxy = await hostile(port);
  const settings = path.join(plant, "sotto.toml");
  const text = fs.readFileSync(settings, "utf8");
  fs.writeFileSync(settings, text.replace(`127.0.0.1:${port}`, `127.0.0.1:${house.proxy.port}`));
  await sotto("watch", "--once");
  return house;
}

export async function start_cloud(house) {
  const cloud = spawn(path.join(house.bin, "sotto-cloud"), ["run", "--config", "cloud.toml"], { ...house.options, cwd: house.plant, stdio: "ignore" });
  house.cloud = cloud;
  house.running.push(cloud);
  await until(() => answers(house.port), "the cloud");
}

const answers = (port) =>
  new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => (socket.destroy(), resolve(true)));
    socket.on("error", () => resolve(false));
  });

/** Starts `sotto console`. Its `address` is http://127.0.0.1:PORT, its `code` works once. */
export async function start_console(house, ...more) {
  const plant = house.plant;
  const args = ["console", "--no-browser", "--every", "1s", ...(more.includes("--port") ? [] : ["--port", "0"]), ...more];
  const child = spawn(path.join(house.bin, "sotto"), args, { ...house.options, env: { ...house.options.env, SOTTO_PLANT: plant }, stdio: ["ignore", "pipe", "pipe"] });
  house.running.push(child);
  const console = { child, output: "", ended: false, file: path.join(plant, "console/open.html") };
  child.stdout.on("data", (data) => (console.output += data));
  child.stderr.on("data", (data) => (console.output += data));
  console.end = new Promise((resolve) => child.on("exit", (code) => ((console.ended = true), resolve(code))));
  await until(() => /http:\/\/127\.0\.0\.1:\d+/.test(console.output) || console.ended, "the console");
  if (console.ended) return console;
  console.address = /http:\/\/127\.0\.0\.1:\d+/.exec(console.output)[0];
  console.port = Number(new URL(console.address).port);
  await until(() => fs.existsSync(console.file), "the file that leads to the page");
  console.code = /#code=([A-Z0-9-]+)/.exec(fs.readFileSync(console.file, "utf8"))[1];
  console.new_code = async () => (await must(path.join(house.bin, "sotto"), ["console", "--code"], { ...house.options, env: { ...house.options.env, SOTTO_PLANT: plant } })).trim();
  console.stop = async () => {
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await console.end;
    clearTimeout(late);
    if (child.signalCode === "SIGKILL") throw new Error(`the console did not end ${STOP_MS / 1000} s after SIGTERM`);
  };
  return console;
}

export async function tear_down(house) {
  house.proxy?.close();
  const is_over = (child) => child.exitCode !== null || child.signalCode !== null;
  for (const child of house.running) if (!is_over(child)) child.kill("SIGTERM");
  await until(() => house.running.every(is_over), "the end of all programs", STOP_MS).catch(() => house.running.forEach((child) => child.kill("SIGKILL")));
}
