// A browser for the tests, and what they say about a page in it.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { chromium } from "playwright-core";

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Findings, one a check. */
export class Report {
  faults = 0;
  checks = 0;
  constructor(out) {
    this.out = out;
    this.begin = Date.now();
    fs.mkdirSync(out, { recursive: true });
  }

  /** Runs a check: it returns a remark or nothing, and throws what was expected and found. */
  async check(name, run, page = null) {
    this.checks += 1;
    const begin = Date.now();
    try {
      const remark = await run();
      console.log(`ok   ${name}${remark ? `: ${remark}` : ""} (${Date.now() - begin} ms)`);
    } catch (error) {
      this.faults += 1;
      console.log(`FAIL ${name}: ${String(error.message ?? error).replaceAll("\n", "\n     ")}`);
      if (page) {
        const picture = path.join(this.out, `${String(this.faults).padStart(2, "0")}-${name.replace(/\W+/g, "-").slice(0, 60)}.png`);
        await page.screenshot({ path: picture, fullPage: true, timeout: 5000 }).then(() => console.log(`     ${picture}`)).catch(() => {});
        // A dialog that stays open would hide the view from the next check.
        await page.keyboard.press("Escape").catch(() => {});
      }
    }
  }

  /** Returns true if all checks held. */
  end() {
    console.log(`${this.checks} checks, ${this.faults} failed, ${((Date.now() - this.begin) / 1000).toFixed(0)} s`);
    return this.faults === 0;
  }
}

const sorted = (_, value) => (value && typeof value === "object" && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value);
/** Characters that a failure shows of each side, from shortly before the first that differs. */
const SHOWN = 240;
export function expect(found, expected, what) {
  const [a, b] = [JSON.stringify(found, sorted) ?? "nothing", JSON.stringify(expected, sorted) ?? "nothing"];
  if (a === b) return;
  let at = 0;
  while (a[at] === b[at]) at += 1;
  const part = (text) => text.slice(Math.max(0, at - 60)).slice(0, SHOWN);
  throw new Error(`${what}: expected ${part(b)}, found ${part(a)}`);
}
export function holds(is, what) {
  if (!is) throw new Error(what);
}

export async function open_browser() {
  const executablePath = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((file) => fs.existsSync(file));
  // Root cannot use the sandbox; the pages are ours.
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}

/** Takes the page's files from a folder in place of those in the program: page.js of a change that is not compiled in yet. */
async function from_folder(context, folder) {
  await context.route(/\/page\.(js|css)$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, path: path.join(folder, new URL(route.request().url()).pathname) });
  });
}

/** Opens the page of a console with its code, in a context of its own. `lines` has what the browser's console said. */
export async function open_page(browser, console, options = {}) {
  const { code = console.code, ...more } = options;
  const context = await browser.newContext({ viewport: { width: 1024, height: 800 }, timezoneId: "America/New_York", acceptDownloads: true, reducedMotion: "reduce", ...more });
  if (process.env.SOTTO_PAGE_DIST) await from_folder(context, process.env.SOTTO_PAGE_DIST);
  const page = await context.newPage();
  page.setDefaultTimeout(8000);
  page.lines = [];
  page.on("console", (line) => page.lines.push(`${line.type()}: ${line.text()}`));
  page.on("pageerror", (error) => page.lines.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => (page.lines.push(`dialog: ${dialog.message()}`), void dialog.dismiss()));
  await page.goto(code === null ? console.address : `${console.address}/#code=${code}`);
  if (code !== null) await page.waitForSelector("nav");
  return page;
}

/** Goes to a view and waits until it has all it asks for. */
export async function go(page, hash, limit = 20_000) {
  await page.evaluate((hash) => void (location.hash = hash), hash);
  await page.waitForFunction((hash) => location.hash === hash && document.querySelector("main h1"), hash);
  await settled(page, limit);
}

export async function settled(page, limit = 20_000) {
  // Two looks: a view that is drawn now asks in the next frame.
  for (let calm = 0; calm < 2; ) {
    await page.waitForFunction(() => !document.querySelector(".progress, .loading, [aria-busy=true]"), null, { timeout: limit });
    await page.waitForTimeout(60);
    calm = (await page.$(".progress, .loading, [aria-busy=true]")) ? 0 : calm + 1;
  }
}

/** Pixels by which the page is wider than its window. */
export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Findings of axe that are serious or critical. */
export async function violations(page) {
  // By the debugger: the page's own policy forbids scripts from elsewhere, and stays on.
  const debug = await page.context().newCDPSession(page);
  if (!(await page.evaluate(() => "axe" in window))) await debug.send("Runtime.evaluate", { expression: axe });
  await debug.detach();
  return page.evaluate(async () => {
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"], runOnly: tags });
    const grave = violations.filter((one) => one.impact === "serious" || one.impact === "critical");
    return grave.map((one) => `${one.impact} ${one.id}: ${one.nodes.slice(0, 2).map((node) => `${node.target.join(" ")} ${(node.any[0] ?? node.all[0] ?? node.none[0])?.message ?? ""}`).join("; ")}`);
  });
}

export const text_of = (page, selector = "main") => page.textContent(selector).then((text) => text ?? "");
