//! Large sums by `sotto-lake`, a program beside the cloud (docs/adr/0027-more-than-one-machine.md). The cloud links none of it,
//! and adds up itself whenever it gives no answer.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use sotto_api::streams::WindowsOf;
use sotto_evaluate::LARGEST_SUMS;
use sotto_wire::{StreamHeader, SumsAnswer};

use crate::config::Config;

/// Maximum bytes of an answer: sums, and the names of 2^20 windows in runs of one.
const LARGEST_ANSWER: u64 = LARGEST_SUMS as u64 + (64 << 20);
/// Time for an answer: owners wait twice as long for the first byte, so the cloud has time to add up itself.
const TIME: Duration = Duration::from_secs(60);
/// Time for which no other request goes to a lake that gave no answer.
const REST: Duration = Duration::from_secs(120);
/// Time between looks at whether the program has ended.
const PAUSE: Duration = Duration::from_millis(20);
/// Bytes of a reason that are logged.
const LONGEST_REASON: usize = 500;

/// The turn of a request, and the time before which none is made.
static TURN: Mutex<Option<Instant>> = Mutex::new(None);

/// Returns the lake's answer to a request of at least as many windows as the configuration says. None if there is no lake, or it
/// gives none: the log says why.
pub(crate) fn sums(config: &Config, header: &StreamHeader, request: &WindowsOf) -> Option<Vec<u8>> {
    let program = config.lake.as_deref()?;
    let windows: u64 = request.windows.iter().map(|(_, count)| u64::from(*count)).sum();
    if windows < config.lake_from {
        return None;
    }
    // One at a time: each takes all of its machine. Meanwhile the cloud adds up itself.
    let Ok(mut rests_until) = TURN.try_lock() else { return None };
    let begin = Instant::now();
    if rests_until.is_some_and(|until| begin < until) {
        return None;
    }
    let answer = ask(program, config, header, request).and_then(|frame| {
        check(&frame, header, request, windows)?;
        Ok(frame)
    });
    match answer {
        Ok(frame) => {
            let seconds = begin.elapsed().as_secs_f64();
            tracing::info!(windows, seconds, stream = header.stream(), "the lake added windows up");
            Some(frame)
        }
        Err(reason) => {
            *rests_until = Some(Instant::now() + REST);
            tracing::warn!(
                windows,
                reason,
                stream = header.stream(),
                "the lake gives no answer: the cloud adds up itself"
            );
            None
        }
    }
}

/// A process that is killed unless it ended.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ask(
    program: &Path,
    config: &Config,
    header: &StreamHeader,
    request: &WindowsOf,
) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    let mut command = Command::new(program);
    command.args(["answer", "--stream", &header.id().tag().to_string(), "--store"]).arg(&config.data);
    if let Some(objects) = &config.objects {
        command.args(["--objects", &objects.to_string()]);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut lake = Ending(command.spawn().map_err(failed)?);
    let request = serde_json::to_vec(request).map_err(|error| error.to_string())?;
    let (input, output, errors) = (lake.0.stdin.take(), lake.0.stdout.take(), lake.0.stderr.take());
    // Each pipe has a thread: none waits for another.
    let sent = thread::spawn(move || input.map_or(Ok(()), |mut input| input.write_all(&request)));
    let read = |pipe: Box<dyn std::io::Read + Send>, most: u64| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.take(most).read_to_end(&mut bytes).map(|_| bytes)
        })
    };
    let frame = output.map(|output| read(Box::new(output), LARGEST_ANSWER));
    let reason = errors.map(|errors| read(Box::new(errors), 1 << 16));
    let begin = Instant::now();
    let status = loop {
        match lake.0.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if begin.elapsed() > TIME => return Err(format!("no answer within {} s", TIME.as_secs())),
            None => thread::sleep(PAUSE),
        }
    };
    let joined = |thread: Option<thread::JoinHandle<std::io::Result<Vec<u8>>>>| {
        thread.and_then(|thread| thread.join().ok()?.ok()).unwrap_or_default()
    };
    let (frame, reason) = (joined(frame), joined(reason));
    let _ = sent.join();
    if !status.success() {
        let mut reason = String::from_utf8_lossy(&reason).trim().to_owned();
        reason.truncate(reason.floor_char_boundary(LONGEST_REASON));
        return Err(format!("{status}: {reason}"));
    }
    Ok(frame)
}

/// Refuses a frame that is not one of this request. Its tags tell the owner if its sums are right.
fn check(frame: &[u8], header: &StreamHeader, request: &WindowsOf, windows: u64) -> Result<(), String> {
    let most = u32::try_from(windows).map_err(|error| error.to_string())?;
    let answer = SumsAnswer::read(frame, header, LARGEST_ANSWER, most).map_err(|error| error.to_string())?;
    let are_sums = answer.sums.len() == request.sums.len()
        && answer.sums.iter().zip(&request.sums).all(|(sum, asked)| {
            sum.windows == asked.windows && sum.parts().map(|(part, _)| part).eq(asked.parts.iter().copied())
        });
    if are_sums && answer.names.len() as u64 == windows {
        Ok(())
    } else {
        Err("its answer is to another request".to_owned())
    }
}
