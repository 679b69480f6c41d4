//! Clocks of files.

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
