//! Clocks of files: of another zone, and ahead for a while. Output whose reader has closed it.

use std::process::Stdio;

use super::*;

const MIDNIGHT: i64 = 1_577_836_800_000;
const HOUR: i64 = 3_600_000;

#[test]
fn times_of_a_file_may_be_those_of_another_zone() {
    let plant = Plant::new();
    let rows = ["00:05:30,closed,10", "2020-03-08T02:30:00,open,11"];
    let zone = ["--zone", "America/New_York"];
    let said = String::from_utf8(plant.command("check", &rows, &zone).stdout).unwrap();
    assert!(said.contains("local in America/New_York"), "{said}");
    assert!(said.contains("1 no such time, line 3"), "the clocks there skip this hour: {said}");
    plant.run(&rows[..1], &zone, 0);
    let windows = plant.windows();
    assert_eq!(windows[&0].start, MIDNIGHT + 5 * HOUR);
    assert_eq!(windows[&0].presence(1).unwrap().iter().collect::<Vec<_>>(), [5]);
    let said = plant.run(&rows[..1], &["--zone", "Atlantis"], 2);
    assert!(said.contains("Atlantis"), "{said}");
}

#[test]
fn a_clock_that_was_ahead_for_a_while_costs_its_own_rows() {
    let rows = |from: usize, day: &str| -> Vec<String> {
        (from..from + 12).map(|minute| format!("{day}00:{minute:02}:00,closed,{minute}")).collect()
    };
    let all = [rows(0, ""), rows(12, "2021-06-01T"), rows(24, "")].concat();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let plant = Plant::new();
    let said = String::from_utf8(plant.command("check", &all, &[]).stdout).unwrap();
    assert!(said.contains("not taken: 12 clock ahead, lines 14, 15, 16, 17, 18 …"), "{said}");
    let output = plant.command("run", &all, &["--json"]);
    assert!(output.status.success());
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&summary["left_out"]["clock-ahead"], &summary["readings"]), (&24.into(), &48.into()));
    assert_eq!(plant.windows().len(), 24, "no window up to the wrong time");
}

#[test]
fn a_reader_that_closes_the_output_ends_nothing_loudly() {
    let plant = Plant::new();
    std::fs::write(plant.path("a.csv"), "time,door,energy\n2020-01-01T00:05:30,closed,10\n").unwrap();
    for command in [&["check"][..], &["run", "--json"]] {
        let mut agent = agent();
        agent.args(command).arg("--bundle").arg(plant.path("gateway.bundle"));
        agent.arg("--csv").arg(plant.path("a.csv")).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = agent.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && !said.contains("panicked"), "{command:?}: {said}");
    }
}
