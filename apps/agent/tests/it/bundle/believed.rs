//! Answers of a cloud that do not fit the device's own numbers are noted and not followed.

use sotto_wire::SignedHeader;

use super::*;

fn heads(plant: &Plant) -> Vec<SignedHeader> {
    let head = |upload: &Upload| SignedHeader::of(&Envelope::read(&upload.body, LARGEST_ENVELOPE).unwrap());
    plant.cloud.uploads().iter().map(head).collect()
}

fn run(plant: &Plant, text: &str) -> (i32, String) {
    let file = plant.write("machine.csv", text);
    let mut command = plant.command("run");
    command.arg("--csv").arg(file).args(["--time", "timestamp", "--column", "temperature=value"]);
    let output = command.output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn text() -> String {
    csv(&every_five_minutes(at("2014-02-13T23:00"), at("2014-02-16T23:00")))
}

fn doubt(plant: &Plant) -> PathBuf {
    plant.path("boiler.spool").join("in-doubt")
}

/// A cloud hides windows that it gave receipts for, so that their readings would be sent again.
#[test]
fn fewer_windows_than_receipts() {
    let plant = Plant::new(vec![days()]);
    assert_eq!(run(&plant, &text()).0, 0);
    let all = heads(&plant);
    assert_eq!(all.len(), 3);
    for shown in [Vec::new(), all[..1].to_vec(), all[..2].to_vec()] {
        std::fs::write(doubt(&plant), "").unwrap();
        plant.cloud.tell(shown);
        let (code, said) = run(&plant, &text());
        assert_eq!(code, 0, "{said}");
        assert!(said.contains("lacks windows that it gave receipts for"), "{said}");
        assert_eq!(plant.cloud.uploads().len(), 3, "nothing is sent again");
        assert!(doubt(&plant).exists(), "the next start asks again");
    }
    plant.cloud.tell(all);
    let (code, said) = run(&plant, &text());
    assert_eq!((code, said.contains("receipts")), (0, false), "{said}");
    assert_eq!(plant.cloud.uploads().len(), 3);
    assert!(!doubt(&plant).exists());
}

#[test]
fn a_number_that_is_taken_by_no_window() {
    let plant = Plant::with(vec![days()], &[Act::Taken]);
    let (code, said) = run(&plant, &csv(&every_five_minutes(at("2014-02-13T23:00"), at("2014-02-14T23:00"))));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("shows no window of this device"), "{said}");
    assert!(!doubt(&plant).exists());
    assert_eq!(plant.status()["streams"]["days"]["next_sequence"], 1);
}

/// An old copy of a spool: the cloud shows the window that has the number.
#[test]
fn a_number_that_is_taken_by_a_window_of_this_device() {
    let script = [Act::Store, Act::Store, Act::Store, Act::Taken, Act::Store];
    let plant = Plant::with(vec![days()], &script);
    let first_day = csv(&every_five_minutes(at("2014-02-13T23:00"), at("2014-02-14T23:00")));
    assert_eq!(run(&plant, &first_day).0, 0);
    let (spool, copy) = (plant.path("boiler.spool"), plant.path("copy"));
    std::fs::create_dir(&copy).unwrap();
    for file in ["state.json", "sent.journal"] {
        std::fs::copy(spool.join(file), copy.join(file)).unwrap();
    }
    assert_eq!(run(&plant, &text()).0, 0);
    plant.cloud.tell(heads(&plant));
    std::fs::remove_dir_all(&spool).unwrap();
    std::fs::rename(&copy, &spool).unwrap();
    let (code, said) = run(&plant, &text());
    assert_eq!(code, 1, "{said}");
    assert!(!said.contains("shows no window of this device"), "{said}");
    assert!(doubt(&plant).exists(), "the next start asks for the heads");
    assert!(plant.status()["streams"]["days"]["next_sequence"].as_u64() >= Some(3));
}
