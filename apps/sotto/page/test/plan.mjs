// The plan with other settings: windows of another length, more security, fewer readings. It writes nothing.
import fs from "node:fs";
import path from "node:path";
import { expect, go, holds, settled, text_of } from "./browser.mjs";

const HOUR = 3_600_000;

/** Name, size and time of every file of the plant, but for those that looking writes: sums that are kept, the page's address. */
function files(folder, below = "") {
  return fs.readdirSync(path.join(folder, below), { withFileTypes: true }).flatMap((one) => {
    const name = path.join(below, one.name);
    if (one.isDirectory()) return ["cache", "console", "cloud"].includes(name) ? [] : files(folder, name);
    const { size, mtimeMs } = fs.statSync(path.join(folder, name));
    return [`${name} ${size} ${mtimeMs}`];
  });
}

export async function plan(report, page, house) {
  let now = null;
  /** Moves sliders, by their label, and returns the plan that comes. */
  const planned = async (sliders) => {
    await page.click("button:text-is('As declared')");
    await settled(page);
    const answers = [];
    const keep = async (response) => response.url().endsWith("/api/plan") && answers.push(await response.json());
    page.on("response", keep);
    for (const [label, value] of Object.entries(sliders)) await page.fill(`#slider-${label.replace(/\W/g, "-")}`, String(value));
    await page.waitForTimeout(400);
    await settled(page);
    page.off("response", keep);
    holds(answers.length > 0, "no plan was asked for");
    return answers.at(-1);
  };
  const streams = (plan) => Object.values(plan.devices).flat();
  const of = (plan, name) => streams(plan).filter((stream) => stream.questions.includes(name));
  const impossible = (plan) => Object.entries(plan.questions).filter(([, why]) => why !== null);
  // Devices that are not registered yet are registered by any look at the cloud.
  await house.sotto("status");
  const before = files(house.plant);
  await report.check("a plan as declared: every question possible, windows as the questions allow", async () => {
    const [response] = await Promise.all([page.waitForResponse("**/api/plan"), go(page, "#/plan")]);
    now = await response.json();
    expect(impossible(now), [], "impossible questions");
    holds("alarm hot" in now.questions, `alarms are planned too, found ${Object.keys(now.questions)}`);
    expect(of(now, "hours").map((stream) => [stream.window_ms, stream.delay_ms]), [[HOUR, HOUR + 300_000]], "window and wait of a question by hour");
    return `${streams(now).length} streams`;
  }, page);
  await report.check("shorter windows: more of them, more bytes, less wait", async () => {
    const half = await planned({ "Longest window": 5 });
    const [was, is] = [of(now, "hours")[0], of(half, "hours")[0]];
    expect([is.window_ms, is.windows_a_day, is.delay_ms], [HOUR / 2, 48, HOUR / 2 + 300_000], "window, windows a day, wait");
    holds(is.bytes_a_day > was.bytes_a_day, `${is.bytes_a_day} bytes a day, ${was.bytes_a_day} before`);
    expect(impossible(half), [], "impossible questions");
    const bold = await page.$$eval(".planned dd.strong", (list) => list.length);
    holds(bold >= 3, `${bold} changed facts stand out`);
    return `${was.bytes_a_day} to ${is.bytes_a_day} bytes a day`;
  }, page);
  await report.check("windows of six hours at most: days are divided, hours stay", async () => {
    const long = await planned({ "Longest window": 2 });
    expect(impossible(long), [], "impossible questions");
    const lengths = (plan, name) => of(plan, name).map((stream) => stream.window_ms);
    expect([lengths(long, "hours"), lengths(long, "alarm hot"), lengths(now, "month_use"), lengths(long, "month_use")], [[HOUR], [HOUR], [24 * HOUR], [6 * HOUR]], "windows by hour, of an alarm, by month, and by month before");
    const [was, is] = [of(now, "month_use")[0], of(long, "month_use")[0]];
    holds(is.bytes_a_day > was.bytes_a_day && is.delay_ms < was.delay_ms, `${is.bytes_a_day} bytes a day, a wait of ${is.delay_ms} ms`);
    return `${was.bytes_a_day} to ${is.bytes_a_day} bytes a day`;
  }, page);
  await report.check("windows shorter than the time between readings are refused, by name", async () => {
    const short = await planned({ "Longest window": 7 });
    const names = impossible(short).map(([name]) => name);
    for (const name of ["used", "used_hour", "month_use"]) holds(names.includes(name), `${name} is not among ${names}`);
    holds(/^readings of .*energy.* come every 15m: a window of 5m would hold none$/.test(short.questions.used), `found ${short.questions.used}`);
    holds(!names.includes("rooms"), "a question about readings every 5 minutes stays possible");
    const words = await text_of(page, "main");
    holds(/used becomes impossible: readings of .* would hold none/.test(words), `the page does not say so: ${words.slice(0, 400)}`);
    return names.join(", ");
  }, page);
  await report.check("security: ciphertexts grow, sums keep 256 bits", async () => {
    const sizes = [of(now, "curve")[0].bytes_a_window];
    expect(of(now, "curve")[0].security_bits, 128, "bits as declared");
    for (const [value, bits] of [[1, 192], [2, 256]]) {
      const more = await planned({ "Security of ciphertexts": value });
      const [curve] = of(more, "curve");
      if (curve) {
        expect(curve.security_bits, bits, "bits of the ciphertexts");
        sizes.push(curve.bytes_a_window);
      } else holds(more.questions.curve !== null, "without its stream the question is impossible");
      expect([...new Set(streams(more).filter((one) => one.scheme === "sums").map((one) => one.security_bits))], [256], "bits of sums");
    }
    holds(sizes.length > 1 && sizes.at(-1) > sizes[0], `bytes a window: ${sizes}`);
    await page.selectOption("#plan-question", "rooms");
    await page.waitForSelector("text=All streams here are sums");
    expect(await page.$$eval("#slider-Security-of-ciphertexts", (list) => list.length), 0, "sliders that change nothing");
    await page.selectOption("#plan-question", "");
    await page.waitForSelector("#slider-Security-of-ciphertexts");
    return `a window of ${sizes.join(", ")} bytes`;
  }, page);
  await report.check("planning writes nothing", () => expect(files(house.plant), before, "files of the plant"), page);
  await report.check("no line in the browser's console", () => expect(page.lines.splice(0), [], "lines"), page);
}
