//! `sotto backup` and `sotto restore`: the plant's folder in one encrypted file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::Timestamp;
use serde_json::json;
use sotto_owner::{
    BackedUp, BackupNote, BackupOptions, OwnerError, Plant, RestoreOptions, RestoredFolder, restore_backup,
};

use super::passphrase::new_passphrase;
use super::{Place, show};
use crate::output::say;
use crate::run::Run;

/// Secrets of the folder that differ from those of the backup.
const REFUSED: u8 = 3;

/// Arguments of `sotto backup`.
#[derive(clap::Args, Debug)]
pub(crate) struct Backup {
    /// The backup's file, mode 0600. If it exists, what changed since is appended
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// Write a whole new backup in place of the file
    #[arg(long)]
    whole: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Arguments of `sotto restore`.
#[derive(clap::Args, Debug)]
pub(crate) struct Restore {
    /// The backup's file
    file: PathBuf,
    /// The folder: a missing or an empty one becomes the plant, an existing one gets the files that it lacks [default: the plant]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Take the backup's files where the folder has others, which go to before-restore-TIME; never secrets
    #[arg(long)]
    replace: bool,
    /// Change nothing: show what would be done
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

/// Runs work that tells how many bytes of how many are done; shows a bar once it takes more than two seconds.
fn with_bar<T>(message: &'static str, work: impl FnOnce(&mut dyn FnMut(u64, u64)) -> T) -> T {
    let bar = ProgressBar::hidden();
    let style = ProgressStyle::with_template("{msg} {wide_bar} {percent} % {eta}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let (begin, mut shown) = (Instant::now(), false);
    let done = work(&mut |done, all| {
        if !shown && begin.elapsed().as_secs() >= 2 {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.set_message(message);
            shown = true;
        }
        bar.set_length(all);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    done
}

impl Run for Backup {
    fn run(self) -> anyhow::Result<ExitCode> {
        let plant = self.place.open()?;
        let passphrase = match plant.needs_backup_passphrase(&self.to, self.whole) {
            true => Some(new_passphrase(self.place.passphrase_file.as_ref())?),
            false => None,
        };
        let options =
            BackupOptions { whole: self.whole, passphrase: passphrase.as_ref().map(|text| text.as_str()) };
        let made = with_bar("backing up", |progress| plant.backup(&self.to, options, progress))?;
        if self.json {
            say(serde_json::to_string_pretty(&json!({"version": 1, "backup": made}))?);
            return Ok(ExitCode::SUCCESS);
        }
        let BackedUp { path, files, written, bytes, is_whole, was_torn, changed, kept, damaged } = &made;
        if *was_torn {
            say("The last backup was interrupted: its unfinished end was cut off.");
        }
        let how = match (is_whole, written) {
            (true, _) => "written whole".to_owned(),
            (false, 0) => "nothing had changed".to_owned(),
            (false, written) => format!("{} new or changed", show::counted(*written as u64, "file")),
        };
        say(format!("{}: {}, {bytes} bytes; {how}", path.display(), show::counted(*files as u64, "file")));
        say("Read again and compared with the folder: every file is there.");
        for file in changed {
            say(format!("  {file} changed meanwhile: the next backup takes it"));
        }
        for file in kept {
            say(format!("  {file}, which the folder has lost, is kept from earlier backups"));
        }
        if !kept.is_empty() {
            say("They come back with:");
            say(format!("  sotto restore {}", path.display()));
        }
        if let Some(damaged) = damaged {
            say(format!("The earlier backup was damaged, and is in {} now.", damaged.display()));
        }
        if passphrase.is_some() {
            say("Nobody can open it without this passphrase: keep a copy of that, too.");
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Restore {
    fn folder(&self) -> anyhow::Result<PathBuf> {
        if let Some(folder) = self.to.as_ref().or(self.place.plant.as_ref()) {
            return Ok(folder.clone());
        }
        let plant: Result<Plant, OwnerError> = self.place.open();
        plant.map(|plant| plant.folder().to_owned()).context("name the folder to make with --to DIR")
    }
}

impl Run for Restore {
    fn run(self) -> anyhow::Result<ExitCode> {
        let folder = self.folder()?;
        let options = RestoreOptions { replace: self.replace, dry_run: self.dry_run };
        let done = with_bar("restoring", |progress| {
            restore_backup(&self.file, &folder, options, &self.place.unlock(), progress)
        })?;
        if self.json {
            say(serde_json::to_string_pretty(
                &json!({"version": 1, "dry_run": self.dry_run, "restore": done}),
            )?);
        } else {
            shown(&done, &folder, self.dry_run);
        }
        Ok(if done.refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) })
    }
}

fn shown(done: &RestoredFolder, folder: &Path, dry_run: bool) {
    let RestoredFolder { at, files, restored, kept, newer, refused, moved_to, is_cut, .. } = done;
    let verb = if dry_run { "would be restored" } else { "restored" };
    say(format!(
        "{}: {} of {} {verb}, of the backup of {}",
        folder.display(),
        restored.len(),
        show::counted(*files as u64, "file"),
        moment(*at)
    ));
    for file in restored.iter().filter(|_| dry_run) {
        say(format!("  {file}"));
    }
    for file in newer {
        say(format!("  {file}: the folder's is newer, and stays"));
    }
    for file in kept {
        say(format!("  {file}: the folder has another, which stays; --replace takes the backup's"));
    }
    for file in refused {
        say(format!(
            "  {file}: the folder has another secret, which stays. The backup's: sotto restore FILE --to ANOTHER-FOLDER"
        ));
    }
    if let Some(aside) = moved_to {
        say(format!("Files that were there before are in {}.", aside.display()));
    }
    if *is_cut {
        say("The end of the backup is missing or damaged: its last whole part was used.");
    }
}

fn moment(at: i64) -> String {
    let time = Timestamp::from_millisecond(at).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Returns a sentence about the age of the last backup.
pub(super) fn last_backup(note: Option<&BackupNote>) -> String {
    let Some(BackupNote { at, path, .. }) = note else {
        return "no backup yet: sotto backup --to FILE".to_owned();
    };
    let age = show::ago(*at, Timestamp::now().as_millisecond());
    format!("last backup {age}: {}", path.display())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_age_of_a_backup_is_told_in_words() {
        let note = |minutes: i64| BackupNote {
            version: 1,
            plant: String::new(),
            at: Timestamp::now().as_millisecond() - minutes * 60_000 - 1000,
            path: "/mnt/plant.backup".into(),
            list: String::new(),
            destroyed: BTreeMap::new(),
        };
        for (minutes, words) in [(0, "less than a minute"), (1, "1 minute"), (90, "1 hour"), (4400, "3 days")]
        {
            assert_eq!(
                last_backup(Some(&note(minutes))),
                format!("last backup {words} ago: /mnt/plant.backup")
            );
        }
        assert_eq!(last_backup(None), "no backup yet: sotto backup --to FILE");
    }
}
