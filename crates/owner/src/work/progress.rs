//! Progress of work on windows.

/// A callback that gets the number of windows finished so far and the total.
///
/// ```no_run
/// use sotto_owner::{OnProgress, Plant};
///
/// let plant = Plant::open("dairy".as_ref())?;
/// let shown: OnProgress<'_> = &mut |finished, total| eprintln!("{finished} of {total} windows");
/// let answer = plant.ask(&plant.question("mean(temperature) over 7d by day")?, shown)?;
/// assert!(answer.rows.len() <= 8);
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
pub type OnProgress<'p> = &'p mut dyn FnMut(u64, u64);
