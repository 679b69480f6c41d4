// The pictures of the documents, 1280 x 800.
import fs from "node:fs";
import path from "node:path";
import { go, open_page, settled } from "./browser.mjs";
import { start_console } from "./house.mjs";

/** A question whose values have a bound: half the width of a bin. */
export const WITH_BOUND = { middle: ["median(living), mean(living) by day", "--precision", "0.4"] };

export async function pictures(browser, house, folder) {
  fs.mkdirSync(folder, { recursive: true });
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
  await go(page, "#/question/middle");
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
  await page.fill("#slider-Longest-window", "7");
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
