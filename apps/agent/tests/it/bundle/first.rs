//! A first run that takes no row ends with a code of its own.

use sotto_wire::SignedHeader;

use super::*;

/// The exit code.
const NOTHING_TAKEN: i32 = 5;

/// Runs the agent on a file, with this spool; returns the exit code and standard error.
fn run(plant: &Plant, file: &Path, spool: &str) -> (i32, String) {
    let mut command = plant.command("run");
    command.arg("--csv").arg(file).args(["--time", "timestamp", "--column", "temperature=value"]);
    let output = command.arg("--spool").arg(plant.path(spool)).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn two_days() -> String {
    csv(&every_five_minutes(at("2014-02-13T23:00"), at("2014-02-15T23:00")))
}

#[test]
fn rows_before_a_time_that_the_cloud_calls_deleted() {
    let plant = Plant::new(vec![days()]);
    let file = plant.write("machine.csv", &two_days());
    plant.cloud.forget(at("2014-03-01T00:00"));
    // Again as long as nothing was ever taken.
    for _ in 0..2 {
        let (code, said) = run(&plant, &file, "spool");
        assert_eq!(code, NOTHING_TAKEN, "{said}");
        assert!(said.contains("of stream days all before 2014-03-01T01:00:00+01:00"), "{said}");
        assert!(said.contains("`sotto status`"), "{said}");
    }
    let later =
        plant.write("later.csv", &csv(&every_five_minutes(at("2014-03-02T23:00"), at("2014-03-03T23:00"))));
    assert_eq!(run(&plant, &later, "spool").0, 0);
    assert_eq!(run(&plant, &file, "spool").0, 0, "no first run any more");
    assert_eq!(plant.cloud.uploads().len(), 1);
}

#[test]
fn rows_that_count_as_sent() {
    let plant = Plant::new(vec![days()]);
    let file = plant.write("machine.csv", &two_days());
    assert_eq!(run(&plant, &file, "spool").0, 0);
    assert_eq!(run(&plant, &file, "spool").0, 0, "the same file was read before");
    let head = |upload: &Upload| SignedHeader::of(&Envelope::read(&upload.body, LARGEST_ENVELOPE).unwrap());
    plant.cloud.tell(plant.cloud.uploads().iter().map(head).collect());
    assert_eq!(run(&plant, &file, "other").0, 0, "the device's own signatures show that it was");
    plant.cloud.forget(at("2014-03-01T00:00"));
    let (code, said) = run(&plant, &file, "third");
    assert_eq!(code, NOTHING_TAKEN, "{said}");
    assert_eq!(plant.cloud.uploads().len(), 2);
}

#[test]
fn rows_that_are_left_out() {
    let plant = Plant::new(vec![days()]);
    let without = plant.write("without.csv", "timestamp,value\n2014-03-14T00:00:00Z,\n");
    let (code, said) = run(&plant, &without, "spool");
    assert_eq!(code, NOTHING_TAKEN, "{said}");
    assert!(said.contains("1 empty") && said.contains("--column temperature="), "{said}");
    let empty = plant.write("empty.csv", "timestamp,value\n");
    assert_eq!(run(&plant, &empty, "spool").0, 0, "there was no row to take");
    let file = plant.write("machine.csv", &two_days());
    assert_eq!(run(&plant, &file, "spool").0, 0);
    assert_eq!(run(&plant, &without, "spool").0, 1, "no first run any more");
}
