// Drives `sotto console` in a browser, on a plant with three agents: `node console.mjs --bin FOLDER --out FOLDER`.
// With --pictures FOLDER it writes the pictures of the documents instead. --only NAME runs one part.
import path from "node:path";
import { parseArgs } from "node:util";
import { answers } from "./answers.mjs";
import { open_browser, open_page, Report } from "./browser.mjs";
import { faults } from "./faults.mjs";
import { build, HOSTILE, start_console, tear_down } from "./house.mjs";
import { pictures, WITH_BOUND } from "./pictures.mjs";
import { plan } from "./plan.mjs";
import { safety } from "./safety.mjs";
import { speed } from "./speed.mjs";
import { views } from "./views.mjs";
import { writes } from "./writes.mjs";

const { values } = parseArgs({ options: { bin: { type: "string" }, out: { type: "string" }, pictures: { type: "string" }, only: { type: "string" }, days: { type: "string" } } });
if (!values.bin || !values.out) throw new Error("node console.mjs --bin FOLDER --out FOLDER [--pictures FOLDER] [--only PART] [--days N]");
const report = new Report(path.resolve(values.out));
const wants = (part) => values.only === undefined || values.only.split(",").includes(part);
let house = null;
let browser = null;
const begin = Date.now();
try {
  house = await build(path.join(report.out, "house"), path.resolve(values.bin), Number(values.days ?? (values.pictures ? 300 : 60)), values.pictures ? { questions: WITH_BOUND } : HOSTILE);
  browser = await open_browser();
  console.log(`a house of ${Date.now() - begin} ms`);
  if (values.pictures) await pictures(browser, house, path.resolve(values.pictures));
  else {
    const console_ = await start_console(house);
    if (wants("speed")) await speed(report, browser, console_);
    for (const part of [views, answers, plan, writes]) {
      if (!wants(part.name)) continue;
      const page = await open_page(browser, console_, { code: await console_.new_code() });
      await part(report, page, house);
      await page.context().close();
    }
    await console_.stop();
    if (wants("safety")) await safety(report, browser, house);
    if (wants("faults")) await faults(report, browser, house);
  }
} finally {
  await browser?.close();
  if (house) await tear_down(house);
}
process.exitCode = report.end() ? 0 : 1;
