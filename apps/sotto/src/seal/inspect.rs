//! `sotto seal inspect`.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use sotto_seal::{Description, SealParameters};

use super::files;
use crate::output::say;
use crate::run::Run;

/// Arguments of `sotto seal inspect`.
#[derive(clap::Args, Debug)]
pub(crate) struct Inspect {
    /// The file.
    file: PathBuf,
    /// SEAL's parameters file; with it scheme, kind and level are certain.
    #[arg(long)]
    parameters: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// The description of a file. A field that the bytes do not determine is omitted.
#[derive(Serialize)]
struct Report {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheme: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    primes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seeded: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log2_scale: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correction_factor: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plain_modulus: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parms_id: Option<String>,
    seal_version: String,
    compression: &'static str,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncompressed_bytes: Option<u64>,
}

impl From<Description> for Report {
    fn from(d: Description) -> Self {
        Self {
            kind: d.kind.name(),
            scheme: d.scheme.map(sotto_rlwe::SchemeId::name),
            n: d.degree,
            primes: d.primes,
            level: d.level,
            parts: d.parts,
            seeded: d.seeded,
            log2_scale: d.scale.map(f64::log2),
            correction_factor: d.factor,
            plain_modulus: d.plain_modulus.filter(|t| *t != 0),
            parms_id: d.parms_id.map(|id| id.to_string()),
            seal_version: d.version.to_string(),
            compression: d.compression.name(),
            bytes: d.bytes,
            uncompressed_bytes: d.inflated,
        }
    }
}

impl Run for Inspect {
    fn run(self) -> anyhow::Result<ExitCode> {
        let bytes = files::read(&self.file)?;
        let parameters = self
            .parameters
            .as_ref()
            .map(|path| -> anyhow::Result<SealParameters> { Ok(SealParameters::read(&files::read(path)?)?) });
        let largest = files::most_inflated(bytes.len());
        let description = sotto_seal::inspect(&bytes, parameters.transpose()?.as_ref(), largest)?;
        let report = Report::from(description);
        if self.json {
            say(serde_json::to_string_pretty(&report)?);
        } else {
            show(&report, largest);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show(report: &Report, largest: u64) {
    let mut lines: Vec<(&str, String)> = vec![("kind", report.kind.into())];
    let mut line = |name, value: Option<String>| lines.extend(value.map(|value| (name, value)));
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    line("scheme", report.scheme.map(str::to_uppercase));
    line("n", number(report.n));
    line("plain modulus", number(report.plain_modulus));
    line("primes", number(report.primes));
    line("level", number(report.level));
    line("parts", number(report.parts));
    let half = |seeded| if seeded { "a seed" } else { "written out" };
    line("random half", report.seeded.map(|seeded| half(seeded).to_owned()));
    line("log2 of the scale", report.log2_scale.map(|bits| format!("{bits:.6}")));
    line("correction factor", number(report.correction_factor));
    line("parms_id", report.parms_id.clone());
    line("written by SEAL", Some(report.seal_version.clone()));
    line("compression", Some(report.compression.to_owned()));
    line("bytes", Some(report.bytes.to_string()));
    let more = || format!("more than {largest}");
    line("bytes uncompressed", Some(number(report.uncompressed_bytes).unwrap_or_else(more)));
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in lines {
        say(format!("{name:width$}  {value}"));
    }
}
