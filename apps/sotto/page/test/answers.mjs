// The page shows what the command line tells, and the readings are those of the sensors' files.
import fs from "node:fs";
import path from "node:path";
import { expect, go, holds, settled, text_of } from "./browser.mjs";
import { QUESTIONS, until } from "./house.mjs";

/** Values that only one run has. */
const RUN = ["seconds", "evaluate_us", "cached", "bytes_down", "jobs", "steps"];
const plain = (answer) => Object.fromEntries(Object.entries(answer).filter(([name]) => !RUN.includes(name)));

/** Keeps what the console answers to questions: the browser drops the bodies of streams. */
async function keep_answers(page) {
  const kept = [];
  await page.route("**/api/ask", async (route) => {
    const response = await route.fetch();
    const body = await response.text();
    kept.push({ ...JSON.parse(body.trim().split("\n").at(-1)), asked: route.request().postDataJSON() });
    await route.fulfill({ response, body });
  });
  return kept;
}

/** A number of the page, and half of its last digit. */
function shown(text) {
  const digits = text.replaceAll("\u202f", "").replace("−", "-").trim();
  return { value: Number(digits), half: 0.5 * 10 ** -(digits.split(".")[1]?.length ?? 0) };
}

async function save(page, button, to) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(`button:text-is("${button}")`)]);
  await download.saveAs(to);
  return fs.readFileSync(to);
}

export async function answers(report, page, house) {
  const ask = async (name, ...more) => JSON.parse(await house.sotto("ask", name, "--json", "--no-keep", ...more));
  const told = {};
  const kept = await keep_answers(page);
  /** The answer that comes while `act` runs, and the body by which it was asked. */
  const answered = async (act) => {
    kept.length = 0;
    await act();
    return until(() => kept[0], "an answer", 20_000);
  };
  for (const name of Object.keys(QUESTIONS)) {
    await report.check(`answer to ${name} as of \`sotto ask\``, async () => {
      told[name] = await ask(name);
      const { answer, refused } = await answered(() => go(page, `#/question/${name}`));
      holds(!refused, `refused: ${refused?.error}`);
      expect(plain(answer), plain(told[name]), "the answer");
      return `${answer.rows.length} rows`;
    }, page);
  }
  await report.check("values in the table of rooms", async () => {
    await go(page, "#/question/rooms");
    await page.click("button:text-is('Table')");
    const rows = await page.$$eval(".scroll tbody tr", (list) => list.map((row) => [...row.cells].map((cell) => cell.textContent)));
    const expected = told.rooms.rows.slice(0, rows.length);
    holds(rows.length >= Math.min(200, told.rooms.rows.length), `${rows.length} rows of ${told.rooms.rows.length}`);
    rows.forEach((cells, i) => {
      const row = expected[i];
      expect(cells[0].slice(0, 10), row.from.slice(0, 10), `day of row ${i}`);
      expect(cells[1], row.name, `name of row ${i}`);
      if (row.value === null) return holds(!/\d/.test(cells[2].replace(row.why ?? "", "")), `row ${i} has no value, found ${cells[2]}`);
      const { value, half } = shown(cells[2].split(/\s*°C/)[0]);
      holds(Math.abs(value - row.value) <= half * 1.001, `row ${i}: expected ${row.value}, found ${cells[2]}`);
      return expect(shown(cells[4]).value, row.count, `count of row ${i}`);
    });
    await page.click("button:text-is('Chart')");
    return `${rows.length} rows`;
  }, page);
  await report.check("zoom from all to a day asks finer groups", async () => {
    await page.click("button:text-is('Day')");
    await page.waitForSelector("text=It learns which time interests you");
    const { answer, asked } = await answered(() => page.click("text=Understood"));
    expect(asked.by, "5m", "group of a day");
    const groups = new Set(answer.rows.map((row) => row.from)).size;
    holds(groups > 200 && groups <= 600, `expected 288 to 576 groups, found ${groups}`);
    const finest = answer.rows.filter((row) => row.name === "mean(living)" && row.value !== null);
    for (const row of finest) expect([row.value], [house.readings.get(Date.parse(row.from))?.[0]], `reading of ${row.from}`);
    return `${groups} groups, ${finest.length} of them single readings of the file`;
  }, page);
  await report.check("dragging over a chart zooms, Back and All lead back", async () => {
    await settled(page);
    await page.click("button:text-is('All')");
    await settled(page);
    const box = await (await page.$(".plot")).boundingBox();
    const { asked } = await answered(async () => {
      await page.mouse.move(box.x + box.width * 0.5, box.y + 100);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.7, box.y + 110, { steps: 4 });
      await page.mouse.up();
    });
    holds(asked.since && asked.until && asked.by, `expected a span with its group, found ${JSON.stringify(asked)}`);
    await settled(page);
    await page.click("button:text-is('Back')");
    await page.waitForSelector("text=From the first window to the last");
    return `${asked.since} to ${asked.until} by ${asked.by}`;
  }, page);
  await report.check("values that nothing shows to be right are held back until the work was repeated here", async () => {
    const { answer: held } = await answered(() => go(page, "#/question/curve"));
    holds(held.rows.every((row) => row.value === null && row.held_back), `expected no value, found ${JSON.stringify(held.rows[0])}`);
    const { answer, refused, asked } = await answered(() => page.click("text=Repeat the work here"));
    holds(!refused && asked.verify === true, `refused: ${refused?.error}`);
    const expected = (await ask("curve", "--verify")).rows;
    answer.rows.forEach((row, i) => holds(row.value !== null && row.bound > 0 && Math.abs(row.value - expected[i].value) <= row.bound + expected[i].bound, `row ${i}: expected ${expected[i].value}, found ${row.value} ± ${row.bound}`));
    await settled(page);
    holds((await page.$$(".plot canvas")).length === 1, "a chart with the values");
    return `${answer.rows.length} rows, ± ${answer.rows[0].bound.toPrecision(2)}`;
  }, page);
  await report.check("export as CSV equals `sotto ask --csv`", async () => {
    await go(page, "#/question/rooms");
    const file = path.join(house.folder, "asked.csv");
    await house.sotto("ask", "rooms", "--no-keep", "--csv", file);
    const saved = await save(page, "CSV", path.join(house.folder, "saved.csv"));
    expect(saved.toString(), fs.readFileSync(file, "utf8"), "the file");
    return `${saved.length} bytes`;
  }, page);
  await report.check("export as Parquet, Excel, PNG, SVG", async () => {
    const magic = { Parquet: "PAR1", Excel: "PK\u0003\u0004", PNG: "PNG", SVG: "<svg" };
    for (const [button, begin] of Object.entries(magic)) {
      const saved = await save(page, button, path.join(house.folder, `saved.${button.toLowerCase()}`));
      holds(saved.subarray(0, 8).toString("latin1").includes(begin), `${button} begins with ${saved.subarray(0, 8).toString("latin1")}`);
    }
  }, page);
  await report.check("several series of sums stand as columns side by side, means are lines", async () => {
    expect(await page.getAttribute(".plot", "data-drawn"), "lines", "means of rooms");
    await go(page, "#/ask");
    await page.fill("#question", "count(living > 20), count(bath > 22) by week");
    await page.keyboard.press("Escape");
    await page.click("button.primary:text-is('Ask')");
    await page.waitForSelector(".explorer .plot canvas");
    await settled(page);
    expect(await page.getAttribute(".explorer .plot", "data-drawn"), "columns", "counts of two channels");
    const svg = (await save(page, "SVG", path.join(house.folder, "columns.svg"))).toString();
    const columns = [...svg.matchAll(/<rect x="([\d.]+)" width="([\d.]+)" y="[^"]+" height="[^"]+" fill="([^"]+)" fill-opacity="1"/g)].map(([, x, width, fill]) => ({ x: Number(x), end: Number(x) + Number(width), fill }));
    columns.sort((a, b) => a.x - b.x);
    holds(columns.length >= 16 && new Set(columns.map((one) => one.fill)).size === 2, `${columns.length} columns in the file`);
    for (const [i, one] of columns.entries()) holds(i === 0 || one.x >= columns[i - 1].end - 0.2, `column ${i} lies over the one before it`);
    return `${columns.length} columns`;
  }, page);
  await report.check("Now counts the readings of the files", async () => {
    await go(page, "#/now");
    const card = await text_of(page, ".card.device:has(h2:text-is('thermometer'))");
    const count = /Readings([\d\u202f]+)/.exec(card)?.[1].replaceAll("\u202f", "");
    expect(Number(count), house.readings.size * 2, "readings of thermometer");
    return count;
  }, page);
  await report.check("what the cloud sees: the readings are those of the file", async () => {
    await go(page, "#/cloud");
    await page.selectOption("#cloud-device", "thermometer");
    await page.waitForSelector(".windows .link");
    const number = (await text_of(page, ".windows .link >> nth=4")).trim().split(" ").at(-1);
    const [response] = await Promise.all([page.waitForResponse((one) => one.url().endsWith(`/${number}`)), page.click(".windows .link >> nth=4")]);
    const { cloud, owner } = await response.json();
    let count = 0;
    owner.channels.forEach((channel) => {
      const place = ["living", "bath"].indexOf(channel.channel);
      for (const { at, value } of channel.values) {
        expect(value, house.readings.get(Date.parse(at))?.[place] ?? null, `${channel.channel} at ${at}`);
        count += 1;
      }
    });
    holds(count >= 24, `expected a window of readings, found ${count}`);
    await page.waitForSelector(".panes .hex");
    const hex = (await text_of(page, ".panes .hex")).replace(/^[0-9a-f]{4,} {2}/gm, "").replace(/\s/g, "");
    holds(cloud.body.startsWith(hex.slice(0, 200)) && hex.length > 64, "the bytes of the cloud are shown");
    const drawn = await page.$$eval(".panes .channel tbody tr", (list) => list.length);
    expect(drawn, count, "readings on the page");
    return `${count} readings, ${cloud.bytes} bytes`;
  }, page);
  await report.check("an answer is verified", async () => {
    await go(page, "#/keys");
    await page.click(".answers button:text-is('Verify') >> nth=0");
    await page.waitForSelector(".answers li:nth-child(1) .pill:text-is('holds')", { timeout: 30_000 });
    return (await text_of(page, ".answers li:nth-child(1) .grow")).slice(0, 160);
  }, page);
  await report.check("no line in the browser's console", () => expect(page.lines.splice(0), [], "lines"), page);
}
