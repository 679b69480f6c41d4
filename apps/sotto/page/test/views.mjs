// Every view at three widths, dark and light: nothing in the browser's console, no scrolling sideways, nothing that axe finds
// serious.
import { go, overflow, settled, violations } from "./browser.mjs";

const WIDTHS = [[360, 740], [1024, 800], [2560, 1300]];
export const VIEWS = {
  now: "#/now",
  device: "#/device/thermometer",
  questions: "#/questions",
  question: "#/question/rooms",
  heat: "#/question/heat",
  histogram: "#/question/living_bins",
  "a hostile unit": "#/question/odd",
  ask: "#/ask",
  alarms: "#/alarms",
  cloud: "#/cloud",
  plan: "#/plan",
  keys: "#/keys",
};

/** More of a view than its address shows. */
export const MORE = {
  ask: async (page) => {
    await page.fill("#question", "mena(living) by day");
    await page.waitForSelector(".fault, [role=alert], #question[aria-invalid=true]");
  },
  cloud: async (page) => {
    await page.click(".windows .link >> nth=0");
    await page.waitForSelector(".panes .hex");
    await page.click("text=Ask and show");
    await page.waitForSelector(".way .stages");
  },
};

export async function views(report, page) {
  for (const [view, hash] of Object.entries(VIEWS)) {
    await report.check(`${view} at 360, 1024, 2560 px, dark and light`, async () => {
      const faults = [];
      await page.setViewportSize({ width: WIDTHS[0][0], height: WIDTHS[0][1] });
      await go(page, hash);
      await MORE[view]?.(page);
      for (const [width, height] of WIDTHS) {
        await page.setViewportSize({ width, height });
        for (const colorScheme of ["dark", "light"]) {
          await page.emulateMedia({ colorScheme });
          // Charts below ask when they come near.
          if (view === "questions") await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
          await settled(page);
          const wide = await overflow(page);
          if (wide > 0) faults.push(`${width} px: ${wide} px wider than the window`);
          for (const found of await violations(page)) faults.push(`${width} px, ${colorScheme}: ${found}`);
        }
      }
      if (await page.evaluate(() => "__stolen" in window)) faults.push("a text of the plant ran as a script");
      faults.push(...page.lines.splice(0));
      if (faults.length > 0) throw new Error([...new Set(faults)].join("\n"));
    }, page);
  }
  await page.setViewportSize({ width: 1024, height: 800 });
}
