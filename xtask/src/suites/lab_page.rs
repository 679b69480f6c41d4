//! Opens the lab's report in a real browser, at the widths of a desktop and a phone: charts are drawn, the console
//! stays empty, nothing is too wide.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::process::{self, Scratch, Times};
use crate::suite::{Context, Outcome};

/// Widths in pixels.
const WIDTHS: [u32; 2] = [1280, 390];
/// The browser's time limit.
const LIMIT: Duration = Duration::from_secs(90);

/// The script that checks the page and reports to the enclosing page. Folded parts are unfolded first; tables may
/// scroll in their own box.
const PROBE: &str = r#"<script>
const faults = [];
addEventListener("error", event => faults.push(event.message));
addEventListener("load", () => {
  document.querySelectorAll("details").forEach(details => details.open = true);
  const wide = document.documentElement.scrollWidth > innerWidth;
  if (wide) {
    const boxed = element => element.closest(".wide") && !element.matches(".wide");
    const out = [...document.querySelectorAll("body *")].filter(e => !boxed(e) && e.getBoundingClientRect().right > innerWidth + 1);
    faults.push("wider than the window: " + (out[0] ? out[0].outerHTML.slice(0, 80) : "?"));
  }
  const charts = [...document.querySelectorAll("svg")];
  for (const chart of charts) {
    const box = chart.getBoundingClientRect();
    const marks = [...chart.querySelectorAll("circle, rect")];
    const outside = mark => {
      const at = mark.getBoundingClientRect();
      return at.width <= 0 || at.left < box.left - 1 || at.right > box.right + 1 || at.top < box.top - 1 || at.bottom > box.bottom + 1;
    };
    const name = chart.getAttribute("aria-label");
    if (box.width < 200 || box.height < 20) faults.push("a small chart: " + name);
    if (marks.length === 0) faults.push("an empty chart: " + name);
    if (marks.some(outside)) faults.push("a chart with marks outside: " + name);
  }
  const letters = [...document.querySelectorAll("p, td, th, text")].filter(e => e.textContent.trim());
  const small = letters.filter(e => parseFloat(getComputedStyle(e).fontSize) < 11);
  if (small.length) faults.push("letters too small to read: " + small[0].textContent.slice(0, 40));
  const found = { width: innerWidth, charts: charts.length, tables: document.querySelectorAll("table").length, faults };
  parent.postMessage(JSON.stringify(found), "*");
});
</script>"#;

/// Returns a page with the report in a frame, because a browser window cannot be as narrow as a phone. The report of
/// the script is written where `--dump-dom` shows it.
fn frame(width: u32) -> String {
    format!(
        r#"<!DOCTYPE html><body style="margin:0"><pre id="probe"></pre><script>
addEventListener("message", event => document.getElementById("probe").textContent = event.data);
</script><iframe src="probed.html" style="border:0;width:{width}px;height:900px"></iframe></body>"#
    )
}

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let program = context.built()?.program("sotto-lab")?;
    let scratch = Scratch::new()?;
    let rows = scratch.path().join("rows");
    let mut lab = Command::new(program);
    lab.args(["run", "operations", "practical-encryption", "--quick", "--engines", "sotto", "--json"]);
    lab.args(["--n", "4096,8192"]).arg("--out").arg(&rows).current_dir(scratch.path());
    finish(lab)?;
    beside_another_engine(&rows.join("operations-part.rows.jsonl"))?;
    let mut faults = looked_at(program, &rows, scratch.path())?;
    // The kept rows, which cover every definition and every engine.
    for kept in kept(&context.root.join("results"))? {
        let copy = scratch.path().join("kept");
        copied(&kept, &copy)?;
        let found = looked_at(program, &copy, scratch.path())?;
        faults.extend(found.into_iter().map(|fault| format!("{}: {fault}", kept.display())));
        fs::remove_dir_all(&copy)?;
    }
    Ok(Outcome::from_faults(faults))
}

/// Returns the folders of results, one for each commit.
fn kept(results: &Path) -> Result<Vec<PathBuf>> {
    let folders = |of: &Path| -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(of)?.map(|entry| Ok(entry?.path()));
        let mut found = entries.collect::<Result<Vec<_>>>()?;
        found.retain(|path| path.is_dir());
        found.sort();
        Ok(found)
    };
    if !results.is_dir() {
        return Ok(Vec::new());
    }
    let commits = folders(results)?.iter().map(|processor| folders(processor)).collect::<Result<Vec<_>>>()?;
    Ok(commits.concat())
}

fn copied(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Returns the faults of the page about these rows, at every width.
fn looked_at(sotto: &Path, rows: &Path, profile: &Path) -> Result<Vec<String>> {
    let mut report = Command::new(sotto);
    report.args(["report"]).arg(rows);
    finish(report)?;
    let page = fs::read_to_string(rows.join("report.html"))?;
    let probed = rows.join("probed.html");
    fs::write(&probed, page.replace("</head>", &format!("{PROBE}</head>")))?;
    let framed = rows.join("framed.html");
    let mut faults = Vec::new();
    for width in WIDTHS {
        fs::write(&framed, frame(width))?;
        let found = look(&framed, width, profile, fewest(rows)?)?;
        faults.extend(found.into_iter().map(|fault| format!("{width} px: {fault}")));
    }
    Ok(faults)
}

/// Adds rows of a second engine, three times as slow, so that charts have lines to compare.
fn beside_another_engine(rows: &Path) -> Result<()> {
    let mut text = fs::read_to_string(rows)?;
    let mut more = String::new();
    for line in text.lines() {
        let mut row: Value = serde_json::from_str(line)?;
        row["engine"] = "seal".into();
        row["median_us"] = (row["median_us"].as_f64().context("a median")? * 3.0).into();
        more += &format!("{row}\n");
    }
    text += &more;
    Ok(fs::write(rows, text)?)
}

fn finish(mut command: Command) -> Result<String> {
    let done = process::run(&mut command, &Times { interrupt_after: None, give_up_after: LIMIT })?;
    if !done.status.success() {
        bail!("{command:?}: {}", done.stderr.trim());
    }
    Ok(done.stdout)
}

/// The smallest numbers that a page must have.
#[derive(Clone, Copy)]
struct Fewest {
    charts: u64,
    tables: u64,
}

/// Returns the fewest charts and tables of a page about these rows. Comparisons are tables alone: a kind of readings, and
/// the gaps.
fn fewest(rows: &Path) -> Result<Fewest> {
    let names = fs::read_dir(rows)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let names = names.collect::<Result<Vec<String>>>()?;
    let mut of_rows = names.iter().filter(|name| name.contains(".rows.jsonl"));
    let compared = of_rows.all(|name| name.starts_with("comparisons."));
    Ok(if compared { Fewest { charts: 0, tables: 4 } } else { Fewest { charts: 40, tables: 8 } })
}

/// Returns the faults of the page in a window of this width, with at least so many charts and tables.
fn look(page: &Path, width: u32, profile: &Path, fewest: Fewest) -> Result<Vec<String>> {
    let mut browser = Command::new("chromium");
    // The page is ours, and root cannot use the sandbox.
    browser.args([
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        "--dump-dom",
    ]);
    browser.args(["--window-size=1400,1000", "--virtual-time-budget=5000"]);
    browser.arg(format!("--user-data-dir={}", profile.join("browser").display()));
    browser.arg(format!("file://{}", page.display()));
    let done = process::run(&mut browser, &Times { interrupt_after: None, give_up_after: LIMIT })?;
    let mut faults: Vec<String> =
        done.stderr.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    let found =
        probed(&done.stdout).with_context(|| format!("the browser shows no probe: {}", done.stderr))?;
    let number = |name: &str| found[name].as_u64().unwrap_or_default();
    println!("{width} px: {} charts, {} tables", number("charts"), number("tables"));
    if number("width") != u64::from(width) {
        faults.push(format!("the window is {} wide", number("width")));
    }
    if number("charts") < fewest.charts || number("tables") < fewest.tables {
        faults.push(format!("{} charts and {} tables are too few", number("charts"), number("tables")));
    }
    let told = found["faults"].as_array().context("faults are a list")?;
    faults.extend(told.iter().filter_map(Value::as_str).take(5).map(str::to_owned));
    Ok(faults)
}

/// Returns the script's report from the page.
fn probed(dom: &str) -> Option<Value> {
    let (_, rest) = dom.split_once("<pre id=\"probe\">")?;
    let (text, _) = rest.split_once("</pre>")?;
    serde_json::from_str(&text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")).ok()
}

#[cfg(test)]
mod tests {
    use super::probed;

    #[test]
    fn the_probe_is_found_in_the_page() {
        let dom =
            "<html><body><pre id=\"probe\">{\"width\":390,\"faults\":[\"a &lt;b&gt;\"]}</pre></body></html>";
        let found = probed(dom).unwrap_or_default();
        assert_eq!((found["width"].as_u64(), found["faults"][0].as_str()), (Some(390), Some("a <b>")));
        assert!(probed("<html></html>").is_none());
    }
}
