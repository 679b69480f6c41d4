// The cloud is away, lies, is slow, answers with scripts, garbage, or without end: the page says so, shows no value that is
// not true, and goes on.
import { readFileSync } from "node:fs";
import { expect, go, holds, open_page, settled, text_of } from "./browser.mjs";
import { start_console } from "./house.mjs";

/** Words of the browser about refusals that it is told, and connections that end. */
const EXPECTED = /status of (4|5)\d\d|ERR_CONNECTION|ERR_INCOMPLETE/;
const MOST_MEMORY = 700e6;

export async function faults(report, browser, house) {
  const console_ = await start_console(house);
  const page = await open_page(browser, console_);
  const { proxy } = house;
  const sound = async () => {
    expect(await page.evaluate(() => window.__stolen ?? null), null, "a script of the cloud ran");
    expect(page.lines.splice(0).filter((line) => !EXPECTED.test(line)), [], "lines in the browser's console");
  };
  /** Asks for an answer that is not kept: a span that nobody asked for yet. */
  let turn = 0;
  const ask = async (limit) => {
    turn += 1;
    await house.run("cache", "clear");
    await go(page, "#/ask");
    await page.fill("#question", `count(living > ${15 + turn}) by day`);
    await page.keyboard.press("Escape");
    await page.click("button.primary:text-is('Ask')");
    await page.waitForSelector(".explorer .busy");
    await settled(page, limit ?? 20_000);
    return { fault: (await page.$(".explorer .fault")) ? await text_of(page, ".explorer .fault") : null, plots: await page.$$eval(".explorer .plot, .explorer table", (list) => list.length) };
  };
  await report.check("a true cloud answers", async () => {
    await go(page, "#/now");
    await page.waitForSelector(".card.device");
    const { fault, plots } = await ask();
    expect([fault, plots > 0], [null, true], "fault and chart");
  }, page);
  await report.check("the cloud is away: a banner, the last state stays, it comes back", async () => {
    await go(page, "#/now");
    const before = await text_of(page, ".card.device:has(h2:text-is('cellar')) dl");
    proxy.set("away");
    await page.waitForSelector(".banner.warn", { timeout: 15_000 });
    const words = await text_of(page, ".banner.warn");
    holds(/is away/.test(words), `found ${words}`);
    const after = await text_of(page, ".card.device:has(h2:text-is('cellar')) dl");
    const plain = (text) => text.replace(/\d+(\.\d+)?\s(ms|s|min|h|d) ago|just now/g, "");
    expect(plain(after), plain(before), "the last state");
    const { fault, plots } = await ask();
    holds(fault && /cannot be reached|away/.test(fault) && plots === 0, `fault ${fault}, charts ${plots}`);
    proxy.set("pass");
    await page.waitForSelector(".banner.warn", { state: "detached", timeout: 15_000 });
    await sound();
    return words.slice(0, 60);
  }, page);
  await report.check("a chart that is shown stays, with the refusal above it", async () => {
    await go(page, "#/question/damp");
    proxy.set("away");
    await page.waitForSelector(".banner.warn", { timeout: 15_000 });
    await page.click("button:text-is('Week')");
    await page.click("text=Understood").catch(() => {});
    await page.waitForSelector(".explorer .fault");
    proxy.set("pass");
    await page.waitForSelector(".banner.warn", { state: "detached", timeout: 15_000 });
    await sound();
  }, page);
  await report.check("the cloud lies: the refusal's words, no value", async () => {
    proxy.set("lies");
    const { fault, plots } = await ask();
    proxy.set("pass");
    holds(fault && /not to be believed|not the one that was asked|tag|digest/.test(fault), `found ${fault}`);
    expect(plots, 0, "charts of a lie");
    await sound();
    return fault.slice(0, 100);
  }, page);
  for (const [mode, words] of [["words", /<img src=x/], ["garbage", /answer/], ["endless", /more than|bytes/]]) {
    await report.check(`the cloud answers with ${mode}: shown as a text, and nothing breaks`, async () => {
      proxy.set(mode);
      const { fault, plots } = await ask(40_000);
      holds(fault && words.test(fault) && plots === 0, `fault ${fault}, charts ${plots}`);
      for (const view of ["now", "alarms", "keys", "device/cellar", "cloud"]) await go(page, `#/${view}`, 40_000);
      expect(await page.$$eval("main img, main script", (list) => list.length), 0, "elements that the cloud's text made");
      const memory = memory_of(console_.child.pid);
      holds(memory < MOST_MEMORY, `the console takes ${memory / 1e6} MB`);
      proxy.set("pass");
      await page.waitForSelector(".banner.warn", { state: "detached", timeout: 20_000 });
      await sound();
      return `${fault.slice(0, 90)}; the console takes ${Math.round(memory / 1e6)} MB`;
    }, page);
  }
  await report.check("the cloud is slow: progress is shown, other views answer, the result comes", async () => {
    proxy.set("pass", 1200);
    await go(page, "#/ask");
    await page.fill("#question", "count(bath > 21) by day");
    await page.keyboard.press("Escape");
    await page.click("button.primary:text-is('Ask')");
    await page.waitForSelector(".progress");
    await page.evaluate(() => void (location.hash = "#/alarms"));
    const begin = Date.now();
    await page.waitForSelector(".alarms");
    const other = Date.now() - begin;
    holds(other < 3000, `another view took ${other} ms`);
    proxy.set("pass", 300);
    const { fault, plots } = await ask(30_000);
    proxy.set("pass");
    expect([fault, plots > 0], [null, true], "fault and chart");
    await sound();
  }, page);
  await report.check("the cloud announces more than it sends: another view answers, and it goes on afterwards", async () => {
    proxy.set("huge");
    await page.evaluate(() => void (location.hash = "#/plan"));
    await page.waitForSelector(".planned", { timeout: 15_000 });
    proxy.set("pass");
    await page.evaluate(() => void (location.hash = "#/now"));
    await page.waitForSelector(".card.device");
    await sound();
  }, page);
  await report.check("a device is removed while its page is open", async () => {
    await house.sotto("device", "add", "guest", "--channels", "living", "--bundle", "guest.bundle");
    await go(page, "#/device/guest");
    await page.waitForSelector("h1:text-is('guest')");
    await house.sotto("device", "remove", "guest");
    await page.waitForFunction(() => document.querySelector("main")?.textContent.match(/no device|not declared|removed|revoked|does not have/i), null, { timeout: 15_000 });
    const words = await text_of(page, "main");
    await go(page, "#/now");
    await sound();
    return words.slice(0, 120);
  }, page);
  await report.check("the console ends and comes back: the page says so, and asks for a code", async () => {
    await go(page, "#/now");
    await console_.stop();
    await page.waitForSelector(".banner.alert");
    const again = await start_console(house, "--port", String(console_.port));
    await page.waitForSelector("#code", { timeout: 20_000 });
    holds(!/thermometer|cellar/.test(await page.content()), "a page without a session shows devices");
    await page.fill("#code", again.code);
    await page.keyboard.press("Enter");
    await page.waitForSelector("nav");
    await again.stop();
    await sound();
  }, page);
  await page.context().close();
  await report.check("with --prefetch zooming asks the cloud for nothing", async () => {
    const fixed = await start_console(house, "--prefetch");
    const other = await open_page(browser, fixed);
    await go(other, "#/question/rooms");
    // Fixed groups of all there is come first.
    await other.waitForTimeout(1500);
    const sums = () => proxy.watch().filter((one) => /sums/.test(one));
    proxy.watch().length = 0;
    for (const span of ["Month", "Week", "Day", "All"]) {
      await other.click(`button:text-is('${span}')`);
      await settled(other);
    }
    expect(sums(), [], "requests for sums");
    holds((await other.$$(".plot canvas")).length > 0, "a chart is shown");
    await other.context().close();
    await fixed.stop();
  });
}

/** Bytes that a process has in memory. */
function memory_of(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s*(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}
