//! Tags, and calls about devices that they name, beside a plain computation on the readings.

use std::fmt::Write as _;

use serde_json::Value;
use tokio::runtime::Runtime;

use crate::session::{self, send_text, sotto};

pub(crate) const DEVICES: [&str; 3] = ["boiler", "tank", "roof"];
pub(crate) const HOURS: i64 = 72;

/// A plant with three devices that have sent two channels by hour, from midnight on.
pub(crate) struct Plant {
    pub(crate) outside: tempfile::TempDir,
    _cloud: Runtime,
}

/// Tenths of a reading of a device and channel.
fn tenths(device: usize, channel: usize, hour: i64) -> i64 {
    let (device, channel) = (device as i64, channel as i64);
    (hour * (7 + 3 * device) + 11 * device + 23 * channel + hour / 5) % (60 + 10 * device)
}

/// Returns the readings of these devices in a time, in kW.
pub(crate) fn readings(devices: &[usize], channel: usize, hours: std::ops::Range<i64>) -> Vec<f64> {
    let of = |device: usize| hours.clone().map(move |hour| tenths(device, channel, hour) as f64 / 10.0);
    devices.iter().copied().flat_map(of).collect()
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

impl Plant {
    pub(crate) fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path();
        let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
        session::init(folder, "mean(heat), max(heat) by day");
        let cloud = session::serve(folder);
        for (at, device) in DEVICES.into_iter().enumerate() {
            run(&["device", "add", device, "--channels", "heat,flow"]);
            let mut text = "time,heat,flow\n".to_owned();
            for hour in 0..HOURS {
                let [heat, flow] = [0, 1].map(|channel| tenths(at, channel, hour));
                let (day, of_day) = (1 + hour / 24, hour % 24);
                let written = |tenths: i64| format!("{}.{}", tenths / 10, tenths % 10);
                writeln!(text, "2024-01-{day:02}T{of_day:02}:00:00Z,{},{}", written(heat), written(flow))
                    .unwrap();
            }
            send_text(folder, &format!("{device}.bundle"), &text);
        }
        Self { outside, _cloud: cloud }
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        sotto(self.outside.path(), arguments).unwrap()
    }

    pub(crate) fn refused(&self, question: &str) -> String {
        sotto(self.outside.path(), &["ask", question]).unwrap_err()
    }

    pub(crate) fn answer(&self, question: &str) -> Value {
        serde_json::from_str(&self.run(&["ask", "--json", question])).unwrap()
    }

    /// Returns the rows of an answer: device or tag, and value.
    fn rows(&self, question: &str) -> Vec<(String, f64)> {
        let answer = self.answer(question);
        let row = |row: &Value| {
            let subject = row["device"].as_str().or(row["tag"].as_str()).unwrap_or_default();
            (subject.to_owned(), row["value"].as_f64().unwrap())
        };
        answer["rows"].as_array().unwrap().iter().map(row).collect()
    }

    pub(crate) fn same(&self, question: &str, expected: &[(&str, f64)]) {
        let rows = self.rows(question);
        let near = |((of, value), (expected_of, expected)): (&(String, f64), &(&str, f64))| {
            of == expected_of && (value - expected).abs() < 1e-9
        };
        let same = rows.len() == expected.len() && rows.iter().zip(expected).all(near);
        assert!(same, "{question}: {rows:?}, not {expected:?}");
    }
}

#[test]
fn calls_about_devices_that_they_name_have_their_readings() {
    let plant = Plant::new();
    let all = 0..HOURS;
    let heat = |devices: &[usize]| mean(&readings(devices, 0, all.clone()));
    let [boiler, tank, roof] = [0, 1, 2].map(|device| heat(&[device]));
    plant.same("mean(heat of boiler) - mean(heat of roof)", &[("", boiler - roof)]);
    plant.same("mean(heat) - mean(heat of roof)", &[("", heat(&[0, 1, 2]) - roof)]);
    plant.same(
        "mean(heat) - mean(heat of roof) where device in (boiler, tank)",
        &[("", heat(&[0, 1]) - roof)],
    );
    plant.same(
        "mean(heat) - mean(heat of all devices) per device",
        &[
            ("boiler", boiler - heat(&[0, 1, 2])),
            ("roof", roof - heat(&[0, 1, 2])),
            ("tank", tank - heat(&[0, 1, 2])),
        ],
    );
    plant.same(
        "mean(heat) - mean(heat of tank) per device where device in (boiler)",
        &[("boiler", boiler - tank)],
    );
    let days = [0, 1, 2].map(|day| {
        let of = |device: usize| mean(&readings(&[device], 0, 24 * day..24 * day + 24));
        ("", of(0) - of(1))
    });
    plant.same("mean(heat of boiler) - mean(heat of tank) by day", &days);
    let flow = readings(&[2], 1, all.clone());
    let products: Vec<f64> = readings(&[2], 0, all.clone()).iter().zip(&flow).map(|(x, y)| x * y).collect();
    let covariance = mean(&products) - roof * mean(&flow);
    // Products are of windows that were declared for them.
    let said = plant.run(&["question", "add", "together", "covariance(heat of roof, flow of roof) by day"]);
    assert!(
        said.contains("roof:") && !said.contains("boiler:"),
        "only the device named is asked for more: {said}"
    );
    assert!(covariance.is_finite());
    // Readings of two devices come down.
    let of_two: Vec<f64> = readings(&[0], 0, all).iter().zip(&flow).map(|(x, y)| x * y).collect();
    let of_two = mean(&of_two) - boiler * mean(&flow);
    plant.same("covariance(heat of boiler, flow of roof)", &[("", of_two)]);
    // The windows of other devices are not in the answer.
    let took_part = &plant.answer("mean(heat of boiler) - mean(heat of roof)")["took_part"];
    assert_eq!(took_part.as_object().unwrap().keys().collect::<Vec<_>>(), ["boiler", "roof"]);
    for (question, words) in [
        ("mean(heat of boilr)", "did you mean boiler?"),
        ("mean(heat of attic)", "declared are boiler, roof, tank"),
        ("mean(heat of boiler) per device", "leave it out"),
        ("mean(heat of tag barn)", "nothing has the tag barn"),
        ("mean(heat of boiler) where device in (boiler)", "leave it out"),
        ("covariance(heat of boiler, flow of rof)", "did you mean roof?"),
        ("covariance(heat of boiler, flow)", "of the same device"),
    ] {
        let said = plant.refused(question);
        assert!(said.contains(words) && said.contains('^'), "{question}: {said}");
    }
    plant.run(&[
        "channel",
        "add",
        "rain",
        "--unit",
        "kW",
        "--range",
        "0..10",
        "--resolution",
        "1",
        "--every",
        "1h",
    ]);
    let said = plant.refused("mean(heat) - mean(rain of roof)");
    assert!(said.contains("roof does not measure rain, but heat, flow"), "{said}");
    let said = sotto(plant.outside.path(), &["alarm", "add", "far", "mean(heat of boiler) > 3"]).unwrap_err();
    assert!(said.contains("leave out of boiler"), "{said}");
}

#[test]
fn tags_choose_devices_and_channels_and_group_them() {
    let plant = Plant::new();
    assert_eq!(plant.run(&["device", "tag", "boiler"]), "device boiler: no tags\n");
    assert_eq!(plant.run(&["device", "tag", "boiler", "barn", "north"]), "device boiler: tags barn, north\n");
    assert_eq!(plant.run(&["device", "tag", "tank", "barn"]), "device tank: tag barn\n");
    assert_eq!(plant.run(&["channel", "tag", "flow", "wet"]), "channel flow: tag wet\n");
    assert!(plant.run(&["device", "list"]).contains("boiler: heat, flow; tags barn, north\n"));
    assert!(plant.run(&["channel", "list"]).contains("every 1h; tag wet\n"));
    let listed =
        |what: &str| -> Value { serde_json::from_str(&plant.run(&[what, "list", "--json"])).unwrap() };
    assert_eq!(listed("device")["tank"]["tags"], serde_json::json!(["barn"]));
    assert_eq!(listed("channel")["flow"]["tags"], serde_json::json!(["wet"]));
    let all = 0..HOURS;
    let heat = |devices: &[usize]| mean(&readings(devices, 0, all.clone()));
    let flow = |devices: &[usize]| mean(&readings(devices, 1, all.clone()));
    plant.same("mean(heat) where tag in (barn)", &[("", heat(&[0, 1]))]);
    plant.same("mean(heat of tag barn) - mean(heat of roof)", &[("", heat(&[0, 1]) - heat(&[2]))]);
    plant.same(
        "mean(heat) per device where tag in (barn) and device in (tank, roof)",
        &[("tank", heat(&[1]))],
    );
    plant.same("mean(heat) per tag", &[("barn", heat(&[0, 1])), ("north", heat(&[0]))]);
    plant.same("mean(heat) by tag where tag in (barn)", &[("barn", heat(&[0, 1]))]);
    // A channel's tag is one of its readings of every device.
    plant.same("mean(flow) where tag in (wet)", &[("", flow(&[0, 1, 2]))]);
    plant.same("mean(flow) where tag in (wet, north)", &[("", flow(&[0, 1, 2]))]);
    plant.same(
        "mean(flow) by tag",
        &[("barn", flow(&[0, 1])), ("north", flow(&[0])), ("wet", flow(&[0, 1, 2]))],
    );
    plant.same(
        "mean(heat) - mean(heat of all devices) per tag",
        &[("barn", heat(&[0, 1]) - heat(&[0, 1, 2])), ("north", heat(&[0]) - heat(&[0, 1, 2]))],
    );
    let day = |devices: &[usize], day: i64| mean(&readings(devices, 0, 24 * day..24 * day + 24));
    let days: Vec<(&str, f64)> =
        (0..3).flat_map(|at| [("barn", day(&[0, 1], at)), ("north", day(&[0], at))]).collect();
    plant.same("mean(heat) by day by tag", &days);
    plant.same("mean(heat) by day per tag", &days);
    let notes = plant.answer("sum(heat) per tag")["notes"].to_string();
    assert!(notes.contains("rows of tags overlap") && notes.contains("boiler (barn, north)"), "{notes}");
    assert!(notes.contains("roof has none of these tags"), "{notes}");
    let table = plant.run(&["ask", "mean(heat) by tag"]);
    assert!(table.contains(" tag ") && table.contains(" north "), "{table}");
    for (question, words) in [
        ("mean(heat) where tag in (barm)", "did you mean barn? There are barn, north, wet"),
        ("mean(heat) where tag in (cellar)", "there are barn, north, wet"),
        ("mean(heat) where tag in (barn, barn)", "comes twice"),
        ("mean(heat) where tag = barn", "in brackets"),
        ("mean(heat) where label in (barn)", "did you mean tag in?"),
        ("mean(heat) by weekday and tag", "by day per tag"),
        ("mean(heat) per tag per device", "exclude each other"),
        ("mean(heat) where tag in (wet)", "no device of the where clause measures heat"),
    ] {
        let said = plant.refused(question);
        assert!(said.contains(words) && said.contains('^'), "{question}: {said}");
    }
    let alarm = ["alarm", "add", "hot", "heat > 5 where tag in (barn)"];
    assert!(sotto(plant.outside.path(), &alarm).unwrap_err().contains("where device in (a, b)"));
    // A comment and the order of the file stay.
    let file = plant.outside.path().join("plant/sotto.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(
        &file,
        text.replace("tags = [\"barn\", \"north\"]", "tags = [\"barn\", \"north\"] # by hand"),
    )
    .unwrap();
    assert_eq!(plant.run(&["device", "tag", "boiler", "north", "--remove"]), "device boiler: tag barn\n");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("tags = [\"barn\"] # by hand"), "{text}");
    let failed = |arguments: &[&str]| sotto(plant.outside.path(), arguments).unwrap_err();
    assert!(
        failed(&["device", "tag", "boiler", "north", "--remove"])
            .contains("has no tag north; it has tag barn")
    );
    assert!(failed(&["device", "tag", "attic", "north"]).contains("attic"));
    assert!(failed(&["device", "tag", "boiler", "the barn"]).contains("1 to 64 of A-Z"));
    plant.run(&["device", "rename", "roof", "top"]);
    plant.same("mean(heat of top)", &[("", heat(&[2]))]);
    plant.run(&["question", "add", "high", "mean(heat of top)"]);
    plant.run(&["device", "rename", "top", "roof"]);
    plant.same("high", &[("", heat(&[2]))]);
}

#[test]
fn an_answer_about_other_devices_is_forgotten_with_those_that_its_calls_name() {
    let plant = Plant::new();
    plant.run(&["ask", "mean(heat) - mean(heat of roof) per device where device in (boiler)"]);
    plant.run(&["ask", "mean(heat) per device where device in (boiler)"]);
    let kept = || plant.run(&["answers"]);
    assert!(kept().contains("of roof"), "{}", kept());
    plant.run(&["forget", "--device", "roof", "--all", "--yes"]);
    assert!(!kept().contains("of roof") && kept().contains("boiler"), "{}", kept());
}
