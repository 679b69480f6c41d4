//! `sotto answers`: shows earlier answers.

use std::process::ExitCode;

use super::export::Export;
use super::{Place, show};
use crate::output::say;
use crate::run::Run;

/// Arguments of `sotto answers`.
#[derive(clap::Args, Debug)]
pub(crate) struct Answers {
    /// Show this answer again
    #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::answer))]
    name: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Draw the answer over time in the terminal
    #[arg(long, requires = "name", conflicts_with = "json")]
    plot: bool,
    /// Write the answer's page with charts to this file
    #[arg(long, requires = "name", value_name = "FILE")]
    html: Option<std::path::PathBuf>,
    #[command(flatten)]
    export: Export,
    #[command(flatten)]
    place: Place,
}

impl Run for Answers {
    fn run(self) -> anyhow::Result<ExitCode> {
        let plant = self.place.open()?;
        if let Some(name) = &self.name {
            let kept = plant.answer(name)?;
            if let Some(file) = &self.html {
                std::fs::write(file, show::html(&kept.answer))
                    .map_err(|error| anyhow::anyhow!("{} cannot be written: {error}", file.display()))?;
            }
            if self.export.is_asked() {
                self.export.write(&kept.answer)?;
            }
            if self.json {
                say(serde_json::to_string_pretty(&kept)?);
            } else if self.plot {
                say(show::plot(&kept.answer));
            } else {
                say(format!("{}\n{}", kept.answer.question, show::answer_text(&kept.answer)));
            }
            if !self.json {
                self.export.tell();
            }
            return Ok(ExitCode::SUCCESS);
        }
        anyhow::ensure!(!self.export.is_asked(), "name an answer: `sotto answers` lists them");
        let names = plant.answers()?;
        if self.json {
            say(serde_json::to_string_pretty(&names)?);
            return Ok(ExitCode::SUCCESS);
        }
        for name in &names {
            let question =
                plant.answer(name).map_or_else(|error| error.to_string(), |kept| kept.answer.question);
            say(format!("{name}  {question}"));
        }
        if names.is_empty() {
            say("no answer was kept yet");
        }
        Ok(ExitCode::SUCCESS)
    }
}
