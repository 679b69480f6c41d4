//! Chips, their files, and the units of numbers in them.
//!
//! Linux states the forms in Documentation/ABI/testing/sysfs-bus-iio and Documentation/hwmon/sysfs-interface.rst: thousandths
//! in most files, so that no kernel needs a floating point.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sotto_preset::{Kind, Reading, Value, channel_name};

/// Maximum numbers of chips, and of files of one.
const MOST_CHIPS: usize = 256;
const MOST_FILES: usize = 1000;
/// Maximum length of a number or a name, in bytes.
const LONGEST: u64 = 128;

/// A folder of chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway::collect) enum Tree {
    Iio,
    Hwmon,
}

/// A quantity: the beginning of its files' names, its unit, and the divisor from the number in a file to it.
type Quantity = (&'static str, &'static str, f64, Option<Kind>);

/// Industrial I/O, after offset and scale.
const IIO: &[Quantity] = &[
    ("temp", "°C", 1e3, None),
    ("humidityrelative", "%", 1e3, None),
    ("pressure", "kPa", 1.0, None),
    ("illuminance", "lx", 1.0, None),
    ("voltage", "V", 1e3, None),
    ("current", "A", 1e3, None),
    ("power", "W", 1e3, None),
    ("energy", "J", 1.0, Some(Kind::Counter)),
    ("concentration", "%", 1.0, None),
    ("resistance", "Ohm", 1.0, None),
    ("distance", "m", 1.0, None),
    ("accel", "m/s²", 1.0, None),
    ("anglvel", "rad/s", 1.0, None),
    ("magn", "G", 1.0, None),
];
/// Hardware monitors.
const HWMON: &[Quantity] = &[
    ("temp", "°C", 1e3, None),
    ("in", "V", 1e3, None),
    ("curr", "A", 1e3, None),
    ("power", "W", 1e6, None),
    ("energy", "J", 1e6, Some(Kind::Counter)),
    ("humidity", "%", 1e3, None),
    ("fan", "rpm", 1.0, None),
];

impl Tree {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Iio => "iio",
            Self::Hwmon => "hwmon",
        }
    }

    pub(super) fn folder(self, root: &Path) -> PathBuf {
        match self {
            Self::Iio => root.join("bus/iio/devices"),
            Self::Hwmon => root.join("class/hwmon"),
        }
    }

    /// Reads all sensors. A sensor that gives no number now is left out.
    pub(super) fn read(self, root: &Path) -> Result<Vec<Reading>, String> {
        let folder = self.folder(root);
        let mut readings = Vec::new();
        for chip in names(&folder, MOST_CHIPS).map_err(|error| format!("{}: {error}", folder.display()))? {
            let chip = folder.join(chip);
            let name = text(&chip.join("name")).unwrap_or_default();
            let Ok(files) = names(&chip, MOST_FILES) else { continue };
            for file in files {
                let found = match self {
                    Self::Iio => iio(&chip, &file),
                    Self::Hwmon => hwmon(&chip, &file),
                };
                let Some((label, quantity, number)) = found else { continue };
                let (_, unit, divisor, kind) = quantity;
                // Dividing rounds once: 21437 / 1000 is 21.437, and 21437 · 0.001 is not.
                let number = number / divisor;
                if !number.is_finite() {
                    continue;
                }
                let value = Value::Number(number.to_string());
                let channel = channel_name([name.as_str(), &label]);
                readings.push(Reading { channel, value, unit: Some((*unit).to_owned()), kind: *kind });
            }
        }
        Ok(readings)
    }
}

/// Returns the label, quantity and number of `in_temp_raw` with its offset and scale, or of `in_temp_input`.
fn iio(chip: &Path, file: &str) -> Option<(String, &'static Quantity, f64)> {
    let (sensor, is_raw) = match (file.strip_suffix("_raw"), file.strip_suffix("_input")) {
        (Some(sensor), _) => (sensor, true),
        (None, sensor) => (sensor?, false),
    };
    let label = sensor.strip_prefix("in_")?;
    let quantity = IIO.iter().find(|(begin, ..)| label.starts_with(begin))?;
    let number = number(&chip.join(file))?;
    if !is_raw {
        return Some((label.to_owned(), quantity, number));
    }
    // A value that the driver has converted already is taken alone.
    if chip.join(format!("{sensor}_input")).exists() {
        return None;
    }
    // Offset and scale are of the sensor, or of all of its quantity.
    let kind = format!("in_{}", quantity.0);
    let of = |fact: &str| {
        self::number(&chip.join(format!("{sensor}_{fact}")))
            .or_else(|| self::number(&chip.join(format!("{kind}_{fact}"))))
    };
    let number = (number + of("offset").unwrap_or(0.0)) * of("scale").unwrap_or(1.0);
    Some((label.to_owned(), quantity, number))
}

/// Returns the label, quantity and number of `temp1_input`.
fn hwmon(chip: &Path, file: &str) -> Option<(String, &'static Quantity, f64)> {
    let sensor = file.strip_suffix("_input")?;
    let is_of = |(begin, ..): &&Quantity| {
        sensor.strip_prefix(begin).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let quantity = HWMON.iter().find(is_of)?;
    let label = text(&chip.join(format!("{sensor}_label"))).unwrap_or_else(|| sensor.to_owned());
    Some((label, quantity, number(&chip.join(file))?))
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path, most: usize) -> std::io::Result<Vec<String>> {
    let entries = fs::read_dir(folder)?.take(most).flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

fn text(path: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(path).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn number(path: &Path) -> Option<f64> {
    text(path)?.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn found(readings: Vec<Reading>) -> Vec<(String, String, String)> {
        let of = |reading: Reading| {
            (reading.channel, reading.value.as_str().to_owned(), reading.unit.unwrap_or_default())
        };
        readings.into_iter().map(of).collect()
    }

    fn row(channel: &str, value: &str, unit: &str) -> (String, String, String) {
        (channel.to_owned(), value.to_owned(), unit.to_owned())
    }

    #[test]
    fn industrial_io_has_offsets_and_scales() {
        let chip = "bus/iio/devices/iio:device0";
        let other = "bus/iio/devices/iio:device1";
        let root = tree(&[
            (&format!("{chip}/name"), "bme280\n"),
            (&format!("{chip}/in_temp_input"), "21430\n"),
            (&format!("{chip}/in_humidityrelative_input"), "48125\n"),
            (&format!("{chip}/in_pressure_input"), "101.325\n"),
            (&format!("{chip}/in_temp_oversampling_ratio"), "2\n"),
            (&format!("{other}/name"), "hdc1080\n"),
            (&format!("{other}/in_temp_raw"), "26000\n"),
            (&format!("{other}/in_temp_offset"), "-15887.515151\n"),
            (&format!("{other}/in_temp_scale"), "2.517700195\n"),
            (&format!("{other}/in_voltage0_raw"), "100\n"),
            (&format!("{other}/in_voltage_scale"), "0.5\n"),
            (&format!("{other}/in_voltage1_raw"), "\n"),
        ]);
        let mut readings = found(Tree::Iio.read(root.path()).unwrap());
        // (26000 - 15887.515151) · 2.517700195 = 25460.20..., in thousandths of a degree.
        let hdc = readings.iter().position(|(channel, ..)| channel == "hdc1080_temp").unwrap();
        let (_, value, unit) = readings.remove(hdc);
        assert!((value.parse::<f64>().unwrap() - 25.460_205).abs() < 1e-3 && unit == "°C", "{value}");
        assert_eq!(
            readings,
            [
                row("bme280_humidityrelative", "48.125", "%"),
                row("bme280_pressure", "101.325", "kPa"),
                row("bme280_temp", "21.43", "°C"),
                row("hdc1080_voltage0", "0.05", "V"),
            ]
        );
    }

    #[test]
    fn hardware_monitors_have_labels() {
        let chip = "class/hwmon/hwmon2";
        let root = tree(&[
            (&format!("{chip}/name"), "nvme\n"),
            (&format!("{chip}/temp1_input"), "36850\n"),
            (&format!("{chip}/temp1_label"), "Composite\n"),
            (&format!("{chip}/temp1_max"), "84850\n"),
            (&format!("{chip}/in0_input"), "12096\n"),
            (&format!("{chip}/fan1_input"), "1187\n"),
            (&format!("{chip}/power1_input"), "4250000\n"),
            (&format!("{chip}/temp2_input"), "no number\n"),
        ]);
        assert_eq!(
            found(Tree::Hwmon.read(root.path()).unwrap()),
            [
                row("nvme_fan1", "1187", "rpm"),
                row("nvme_in0", "12.096", "V"),
                row("nvme_power1", "4.25", "W"),
                row("nvme_composite", "36.85", "°C"),
            ]
        );
        assert!(Tree::Hwmon.read(Path::new("/nowhere")).is_err());
    }
}
