// Everything that the page writes is what the command line then tells, and the other way round.
import fs from "node:fs";
import path from "node:path";
import { expect, go, holds, text_of } from "./browser.mjs";
import { SCRIPT, until } from "./house.mjs";

export async function writes(report, page, house) {
  const settings = () => fs.readFileSync(path.join(house.plant, "sotto.toml"), "utf8");
  await report.check("a question is declared with its price", async () => {
    await go(page, "#/ask");
    await page.fill("#question", "max(living) by day");
    await page.keyboard.press("Escape");
    await page.click("text=Declare it…");
    await page.fill("#declare-name", "warmest");
    const before = settings();
    await page.click("text=Show the price");
    await page.waitForSelector("dialog table");
    expect(settings(), before, "sotto.toml while the price is shown");
    const price = await text_of(page, "dialog table tbody");
    holds(/thermometer.*\d.*B/.test(price), `expected bytes of thermometer, found ${price}`);
    await page.click("dialog >> text=Declare it");
    await page.waitForSelector("dialog >> text=See its chart");
    const list = await house.sotto("question", "list");
    holds(/warmest.*max\(living\) by day/.test(list), `\`sotto question list\` lacks it:\n${list}`);
    await page.click("text=See its chart");
    await page.waitForSelector("h1:text-is('warmest')");
    return price.replace(/\s+/g, " ").slice(0, 80);
  }, page);
  await report.check("`sotto question add` appears while the page is open", async () => {
    await go(page, "#/questions");
    await house.sotto("question", "add", "from_shell", "min(cellar) by day");
    const begin = Date.now();
    await page.waitForSelector("main >> text=from_shell", { timeout: 20_000 });
    return `after ${Date.now() - begin} ms`;
  }, page);
  await report.check("both at one time: no declaration is lost", async () => {
    await go(page, "#/ask");
    await page.fill("#question", "min(living) by day");
    await page.keyboard.press("Escape");
    await page.click("text=Declare it…");
    await page.fill("#declare-name", "coldest");
    await page.click("text=Show the price");
    await page.waitForSelector("dialog table");
    const shell = Promise.all(["one", "two", "three"].map((name) => house.sotto("question", "add", name, "mean(cellar) by month")));
    await page.click("dialog >> text=Declare it");
    await Promise.all([shell, page.waitForSelector("dialog >> text=See its chart")]);
    const list = await house.sotto("question", "list");
    for (const name of ["coldest", "one", "two", "three", "from_shell"]) holds(list.includes(name), `${name} is lost:\n${list}`);
    await page.keyboard.press("Escape");
  }, page);
  await report.check("a dashboard is arranged by the keyboard", async () => {
    await go(page, "#/questions");
    await page.click("text=Arrange");
    const first = await page.getAttribute(".handle >> nth=0", "aria-label");
    const name = first.split(",")[0];
    await page.focus(".handle >> nth=0");
    await page.keyboard.press("ArrowDown");
    await until(() => /\[dashboards\.main\]\s*questions = \[\s*"\w+",\s*"(\w+)"/.exec(settings())?.[1] === name, `${name} at the second place of sotto.toml`);
    await page.click("text=Done");
  }, page);
  await report.check("an alarm is acknowledged", async () => {
    await go(page, "#/alarms");
    await page.click(".alarm.rings button:text-is('Acknowledge')");
    await page.waitForSelector(".alarm.rings >> text=Acknowledged.");
    const state = JSON.parse(await house.sotto("alarm", "show", "hot", "--json"));
    holds(state.devices.some((one) => one.acknowledged), `found ${JSON.stringify(state).slice(0, 300)}`);
  }, page);
  await report.check("an alarm is muted; its reason is a text, whatever it says", async () => {
    await page.click(".alarm.rings button:text-is('Mute')");
    await page.fill("#mute-reason", SCRIPT);
    await page.click("dialog button.primary");
    await page.waitForSelector(".alarm.rings .pill:text-is('muted')");
    const state = JSON.parse(await house.sotto("alarm", "show", "hot", "--json"));
    const muted = state.events.filter((event) => event.event === "muted").at(-1);
    expect(muted?.reason, SCRIPT, "reason in the log");
    await page.waitForFunction((text) => document.querySelector(".alarm.rings")?.textContent.includes(text), SCRIPT);
    expect(await page.evaluate(() => window.__stolen ?? null), null, "a script of the reason ran");
  }, page);
  await report.check("a device is added; its bundle is its owner's alone", async () => {
    await go(page, "#/keys");
    await page.click("text=Add a device");
    await page.fill("#device-name", "attic");
    await page.click("dialog label.check:has-text('living')");
    await page.click("text=Show its price");
    await page.waitForSelector("dialog .lines");
    const file = path.join(house.plant, "attic.bundle");
    holds(!fs.existsSync(file), "a bundle before it was asked for");
    const codes = [];
    page.on("request", (one) => /\/qr$/.test(one.url()) && codes.push(one.method()));
    const [answer] = await Promise.all([page.waitForResponse((one) => /\/api\/devices$/.test(one.url()) && /"dry_run":false/.test(one.request().postData() ?? "")), page.click("text=Make its bundle")]);
    await page.waitForSelector("dialog >> text=The bundle is in this file");
    expect(Object.keys(await answer.json()).sort(), ["device", "file", "lines"], "fields of the answer");
    expect(codes, [], "QR codes before they were asked for");
    expect((fs.statSync(file).mode & 0o777).toString(8), "600", "mode of the bundle");
    const shown = await text_of(page, "dialog");
    const secret = /"?secret"?\s*[:=]\s*"([0-9a-f]{32,})"/.exec(fs.readFileSync(file, "latin1"))?.[1];
    holds(!secret || !shown.includes(secret), "the dialog shows the secret");
    const [code] = await Promise.all([page.waitForResponse("**/api/devices/attic/qr"), page.click("dialog >> text=Show as a QR code")]);
    expect([code.status(), code.headers()["cache-control"]], [200, "no-store"], "status and cache of the QR code");
    const { rows } = await code.json();
    await page.waitForSelector("dialog svg.qr");
    expect(await page.getAttribute("dialog svg.qr", "viewBox"), `-4 -4 ${rows.length + 8} ${rows.length + 8}`, "the code's size");
    await page.click("dialog .actions >> text=Close");
    expect([codes, await page.$$eval("svg.qr", (list) => list.length)], [["POST"], 0], "requests for a QR code, and codes on the page afterwards");
    const list = await house.sotto("device", "list");
    holds(list.includes("attic"), `\`sotto device list\` lacks it:\n${list}`);
  }, page);
  await report.check("a device is renamed", async () => {
    await page.click(".device-list li:has(a:text-is('attic')) >> text=Rename");
    await page.fill("#rename-to", "loft");
    await page.click("dialog button.primary");
    await page.waitForSelector(".device-list a:text-is('loft')");
    const list = await house.sotto("device", "list");
    holds(list.includes("loft"), `\`sotto device list\` lacks it:\n${list}`);
  }, page);
  await report.check("a device is removed while its page is open elsewhere", async () => {
    await page.click(".device-list li:has(a:text-is('loft')) >> text=Remove");
    holds(await page.isDisabled("dialog button.danger"), "the button waits for the name");
    await page.fill("#confirm-word", "loft");
    await page.click("dialog button.danger");
    await page.waitForSelector(".device-list a:text-is('loft')", { state: "detached" });
    const list = await house.sotto("device", "list");
    holds(!/loft/.test(list.split("\n").filter((line) => !/revoked|removed/.test(line)).join("\n")), `it is still there:\n${list}`);
  }, page);
  await report.check("refusals keep their words: a name that is taken", async () => {
    await page.click("text=Add a device");
    await page.fill("#device-name", "cellar");
    await page.click("dialog label.check:has-text('cellar')");
    await page.click("text=Show its price");
    await page.waitForSelector("dialog .fault");
    const words = await text_of(page, "dialog .fault");
    holds(/cellar/.test(words), `expected the name, found ${words}`);
    await page.keyboard.press("Escape");
    // The browser itself notes each status from 400 on.
    page.lines = page.lines.filter((line) => !/status of 422/.test(line));
    return words.slice(0, 100);
  }, page);
  await report.check("no line in the browser's console", () => expect(page.lines.splice(0), [], "lines"), page);
}
