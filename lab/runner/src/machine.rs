//! The machine of a run: its processor, never its host name.

use std::fs;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

/// The facts about a machine that figures depend on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// The processor's name, or the board's if the processor has none.
    pub processor: String,
    /// Vector extensions.
    pub vectors: Vec<String>,
    /// All flags that the kernel lists.
    pub flags: String,
    /// Number of processors that this program may use.
    pub cores: usize,
    /// The processor that engines are pinned to; None if the system cannot pin.
    pub pinned: Option<usize>,
    /// Operating system and architecture.
    pub system: String,
    /// The load average of the last minute at the begin of the run: other processes make figures worse.
    pub load: Option<f64>,
}

impl Host {
    /// Describes this machine.
    pub fn here() -> Self {
        let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let board = fs::read_to_string("/proc/device-tree/model").unwrap_or_default();
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            processor: processor(&text, &board),
            vectors: vectors().into_iter().map(str::to_owned).collect(),
            flags: field(&text, &["flags", "Features"]).unwrap_or_default().to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            pinned: pinnable(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            load: load.split_whitespace().next().and_then(|figure| figure.parse().ok()),
        }
    }

    /// Returns the processor's name as a folder name: lower case, digits and hyphens.
    pub fn slug(&self) -> String {
        let plain = self.processor.replace("(R)", " ").replace("(TM)", " ").to_lowercase();
        let words = plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let slug = words.collect::<Vec<_>>().join("-");
        if slug.is_empty() { std::env::consts::ARCH.to_owned() } else { slug }
    }
}

fn field<'a>(text: &'a str, names: &[&str]) -> Option<&'a str> {
    let split = text.lines().filter_map(|line| line.split_once(':'));
    split.map(|(name, value)| (name.trim(), value.trim())).find(|(name, _)| names.contains(name)).map(|f| f.1)
}

/// Returns the processor's name, with family and model, because virtual machines often show only a maker's name.
fn processor(text: &str, board: &str) -> String {
    let board = board.trim_matches(['\0', ' ', '\n']);
    let name = field(text, &["model name"]).unwrap_or_default();
    let numbers = (field(text, &["cpu family"]), field(text, &["model"]));
    match (name, numbers) {
        (name, (Some(family), Some(model))) if !name.is_empty() => {
            format!("{name} (family {family} model {model})")
        }
        (_, _) if !board.is_empty() => board.to_owned(),
        ("", _) => format!("{} processor", std::env::consts::ARCH),
        (name, _) => name.to_owned(),
    }
}

#[cfg(target_arch = "x86_64")]
fn vectors() -> Vec<&'static str> {
    [
        ("sse4.2", std::is_x86_feature_detected!("sse4.2")),
        ("aes", std::is_x86_feature_detected!("aes")),
        ("avx2", std::is_x86_feature_detected!("avx2")),
        ("bmi2", std::is_x86_feature_detected!("bmi2")),
        ("avx512f", std::is_x86_feature_detected!("avx512f")),
        ("avx512dq", std::is_x86_feature_detected!("avx512dq")),
        ("avx512ifma", std::is_x86_feature_detected!("avx512ifma")),
        ("vaes", std::is_x86_feature_detected!("vaes")),
    ]
    .into_iter()
    .filter_map(|(name, has)| has.then_some(name))
    .collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn vectors() -> Vec<&'static str> {
    if cfg!(target_arch = "aarch64") { vec!["neon"] } else { Vec::new() }
}

/// Returns the last processor that this program may use, if `taskset` can pin to it: the first one handles most
/// interrupts.
fn pinnable() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let last = field(&status, &["Cpus_allowed_list"])?.rsplit([',', '-']).next()?.parse().ok()?;
    let mut probe = Command::new("taskset");
    probe.args(["-c", &format!("{last}"), "true"]);
    let status = probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success()).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named_wherever_its_name_stands() {
        let intel =
            "cpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Intel(R) Xeon(R) Processor\nflags: fpu avx2";
        let name = processor(intel, "");
        assert_eq!(name, "Intel(R) Xeon(R) Processor (family 6 model 207)");
        let machine = Host { processor: name, ..Host::default() };
        assert_eq!(machine.slug(), "intel-xeon-processor-family-6-model-207");
        assert_eq!(processor("Features: fp asimd", "Raspberry Pi 4 Model B\0"), "Raspberry Pi 4 Model B");
        assert!(processor("", "").ends_with(" processor"));
        assert_eq!(field(intel, &["flags", "Features"]), Some("fpu avx2"));
    }

    #[test]
    fn this_machine_has_a_folder() {
        let slug = Host::here().slug();
        assert!(!slug.is_empty() && slug.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{slug}");
    }
}
