// The pictures of the documents, 1280 x 800.
import fs from "node:fs";
import path from "node:path";
import { go, open_page, settled } from "./browser.mjs";
import { run, start_console } from "./house.mjs";

/** A pump with a question whose values have a bound. */
async function add_pump(house) {
  await house.sotto("channel", "add", "flow", "--unit", "l/min", "--range", "0..40", "--resolution", "0.1", "--every", "5m");
  await house.sotto("question", "add", "power", "mean(polynomial(flow, [1, 0.2, 0.01])) by hour", "--precision", "0.2");
  await house.sotto("device", "add", "pump", "--channels", "flow", "--bundle", "pump.bundle");
  const rows = ["time,flow"];
  for (let at = house.end - 3 * 86_400_000; at <= house.end; at += 300_000) {
    const hour = (at % 86_400_000) / 3_600_000;
    rows.push(`${new Date(at).toISOString()},${Math.max(0, 14 + 9 * Math.sin(((hour - 7) / 12) * Math.PI) + 2 * Math.sin(at / 4e6)).toFixed(1)}`);
  }
  fs.writeFileSync(path.join(house.folder, "pump.csv"), rows.join("\n") + "\n");
  const sent = await run(path.join(house.bin, "sotto-agent"), ["run", "--bundle", "pump.bundle", "--csv", "pump.csv"], house.options);
  if (sent.code !== 0) throw new Error(sent.stderr);
}

export async function pictures(browser, house, folder) {
  fs.mkdirSync(folder, { recursive: true });
  await add_pump(house);
  const console_ = await start_console(house);
  const open = async (colorScheme) => open_page(browser, console_, { code: await console_.new_code(), viewport: { width: 1280, height: 800 }, colorScheme });
  const page = await open("light");
  const take = async (name, of = page) => {
    await of.mouse.move(0, 0);
    await of.waitForTimeout(150);
    await of.screenshot({ path: path.join(folder, `console-${name}.png`) });
  };
  await go(page, "#/questions");
  await go(page, "#/now");
  await take("now");
  await go(page, "#/question/power");
  const box = await (await page.$(".plot")).boundingBox();
  await page.mouse.move(box.x + box.width * 0.32, box.y + 90);
  await page.waitForTimeout(200);
  await page.screenshot({ path: path.join(folder, "console-question.png") });
  await go(page, "#/ask");
  await page.click("#question");
  await page.keyboard.type("mean(living), m", { delay: 30 });
  await page.waitForSelector("[role=option]");
  await take("ask");
  await page.keyboard.press("Escape");
  await go(page, "#/alarms");
  await take("alarms");
  await go(page, "#/cloud");
  await page.selectOption("#cloud-device", "thermometer");
  await page.waitForSelector(".windows .link");
  await page.click(".windows .link >> nth=2");
  await page.waitForSelector(".panes .hex");
  await settled(page);
  await page.evaluate(() => scrollTo(0, document.querySelector(".windows").getBoundingClientRect().top + scrollY + 190));
  await take("cloud");
  await go(page, "#/question/hours");
  await go(page, "#/plan");
  await page.fill("#slider-Time-between-readings", "5");
  await page.fill("#slider-Devices-like-these", "3");
  await page.waitForTimeout(500);
  await settled(page);
  await take("plan");
  await go(page, "#/keys");
  await take("keys");
  const dark = await open("dark");
  await go(dark, "#/questions");
  await settled(dark);
  await take("questions", dark);
  await console_.stop();
}
