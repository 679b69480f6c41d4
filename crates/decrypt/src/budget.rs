//! The counted budget of flooded results of one key.
//!
//! A budget in a file is written, synchronised to the disk and renamed into place *before* a result is
//! released. A crash may lose a result that was counted, but never releases one that was not.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sotto_rlwe::KeyId;

/// The fewest statistical bits s that a budget may have.
pub const LEAST_STATISTICAL_BITS: u32 = 30;
/// The maximum of statistical bits; then the maximum of results.
const MOST_STATISTICAL_BITS: u32 = 64;
const MOST_RESULTS: u64 = 1 << 32;
/// First line of a budget's file.
const TITLE: &str = "sotto flooding budget 1";
/// Bytes that no budget's file exceeds.
const LONGEST: u64 = 400;

/// The number of flooded results of one key that may still be published. Bound to the key: results of other
/// keys are refused.
///
/// Use one budget a key. The risks of two budgets of one key add up. A file restored from a copy forgets the
/// results published since; start with a new key then.
///
/// ```
/// use sotto_decrypt::FloodingBudget;
/// use sotto_rlwe::KeyId;
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("flooding-budget");
/// let budget = FloodingBudget::create(&path, KeyId([7; 16]), 30, 1000)?;
/// assert_eq!(budget.left(), 1000);
/// let cost = budget.cost_bits(1); // bits of precision that flooding one value takes
/// assert!(cost > 21.0 && cost < 22.0);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct FloodingBudget {
    key: KeyId,
    statistical_bits: u32,
    allowed: u64,
    used: u64,
    store: Option<Store>,
}

/// The budget's file, and the lock that excludes other processes.
struct Store {
    path: PathBuf,
    _lock: File,
}

/// The reason why a budget cannot be used.
///
/// ```
/// use sotto_decrypt::{BudgetError, FloodingBudget};
/// use sotto_rlwe::KeyId;
///
/// let weak = FloodingBudget::for_key_of_this_process(KeyId([7; 16]), 20, 1000);
/// assert!(matches!(weak, Err(BudgetError::Terms { statistical_bits: 20, .. })));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum BudgetError {
    /// The statistical bits or the number of results are out of range.
    #[error(
        "a flooding budget has {LEAST_STATISTICAL_BITS} to 64 statistical bits and 1 to 2^32 results, not {statistical_bits} and {allowed}"
    )]
    Terms {
        /// The statistical bits s asked for.
        statistical_bits: u32,
        /// The number of results τ asked for.
        allowed: u64,
    },
    /// All results of the budget have been published.
    #[error(
        "the flooding budget of key {key} is spent: all {allowed} results have been released; use a new key"
    )]
    Spent {
        /// The key whose results are counted.
        key: KeyId,
        /// The number of results τ.
        allowed: u64,
    },
    /// Another process uses the budget.
    #[error("the flooding budget {path} is in use by another process")]
    InUse {
        /// The file.
        path: String,
    },
    /// The file is not a budget, or it is damaged.
    #[error("{path} is not a flooding budget, or it is damaged: without the count, use a new key")]
    Damaged {
        /// The file.
        path: String,
    },
    /// The file cannot be read or written. Nothing has been published.
    #[error("the flooding budget {path} cannot be used: {error}")]
    Io {
        /// The file.
        path: String,
        /// The system's reason.
        error: io::Error,
    },
}

impl FloodingBudget {
    /// Makes a budget in memory, for a key that ends with the process as the budget does.
    ///
    /// `statistical_bits` is s, 30 … 64; `allowed` is τ, 1 … 2^32 results.
    ///
    /// # Errors
    /// [`BudgetError::Terms`] for other numbers.
    pub fn for_key_of_this_process(
        key: KeyId,
        statistical_bits: u32,
        allowed: u64,
    ) -> Result<Self, BudgetError> {
        let terms = (LEAST_STATISTICAL_BITS..=MOST_STATISTICAL_BITS).contains(&statistical_bits)
            && (1..=MOST_RESULTS).contains(&allowed);
        let budget = Self { key, statistical_bits, allowed, used: 0, store: None };
        terms.then_some(budget).ok_or(BudgetError::Terms { statistical_bits, allowed })
    }

    /// Creates a budget in a file of mode 0600. An existing file is never overwritten: it counts the results
    /// so far.
    ///
    /// # Errors
    /// [`BudgetError::Terms`] for numbers out of range, [`BudgetError::InUse`] if another process uses the
    /// file, [`BudgetError::Io`] if it exists or cannot be written.
    pub fn create(path: &Path, key: KeyId, statistical_bits: u32, allowed: u64) -> Result<Self, BudgetError> {
        let mut budget = Self::for_key_of_this_process(key, statistical_bits, allowed)?;
        let store = Store { path: path.to_owned(), _lock: lock(path)? };
        // `symlink_metadata` also sees a dangling link.
        if path.symlink_metadata().is_ok() {
            return Err(failed(path, io::ErrorKind::AlreadyExists.into()));
        }
        store.write(&budget.to_text())?;
        budget.store = Some(store);
        Ok(budget)
    }

    /// Opens the budget in a file. Other processes cannot use it until it is dropped.
    ///
    /// # Errors
    /// [`BudgetError::InUse`], [`BudgetError::Damaged`] or [`BudgetError::Io`].
    pub fn open(path: &Path) -> Result<Self, BudgetError> {
        // All links to a file share one lock and one count.
        let path = &path.canonicalize().map_err(|error| failed(path, error))?;
        let store = Store { path: path.clone(), _lock: lock(path)? };
        let mut text = String::new();
        let file = File::open(path).map_err(|error| failed(path, error))?;
        // Text that is not UTF-8 or ends early is damaged: it differs from the text that `to_text` writes.
        let read = file.take(LONGEST).read_to_string(&mut text);
        match read {
            Err(error) if error.kind() != io::ErrorKind::InvalidData => return Err(failed(path, error)),
            _ => {}
        }
        let mut budget =
            Self::parse(&text).ok_or_else(|| BudgetError::Damaged { path: path.display().to_string() })?;
        budget.store = Some(store);
        Ok(budget)
    }

    /// Returns the key whose results the budget counts.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns s: an observer of all results distinguishes the key's noise from none with advantage at most
    /// 2^-(s/2)/√48.
    pub fn statistical_bits(&self) -> u32 {
        self.statistical_bits
    }

    /// Returns τ, the number of results allowed in all.
    pub fn allowed(&self) -> u64 {
        self.allowed
    }

    /// Returns the number of results that may still be published.
    pub fn left(&self) -> u64 {
        self.allowed - self.used
    }

    /// Counts one result. The count is on the disk when this returns.
    pub(crate) fn spend(&mut self) -> Result<(), BudgetError> {
        if self.used >= self.allowed {
            return Err(BudgetError::Spent { key: self.key, allowed: self.allowed });
        }
        // Counted even if writing fails, as the file may have been written nevertheless.
        self.used += 1;
        self.store.as_ref().map_or(Ok(()), |store| store.write(&self.to_text()))
    }

    fn to_text(&self) -> String {
        let Self { key, statistical_bits, allowed, used, .. } = self;
        let text = format!(
            "{TITLE}\nkey {key}\nstatistical bits {statistical_bits}\nresults allowed {allowed}\nresults used {used}\n"
        );
        let digest = blake3::hash(text.as_bytes());
        format!("{text}digest {}\n", digest.to_hex())
    }

    /// Parses a budget's text. Returns None for every text that [`to_text`](Self::to_text) does not write.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().skip(1);
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        let key = KeyId(bytes_from_hex(value("key")?)?);
        let statistical_bits = value("statistical bits")?.parse().ok()?;
        let allowed = value("results allowed")?.parse().ok()?;
        let used = value("results used")?.parse().ok()?;
        let new = Self::for_key_of_this_process(key, statistical_bits, allowed).ok()?;
        let budget = Self { used, ..new };
        (used <= allowed && budget.to_text() == text).then_some(budget)
    }
}

impl Store {
    /// Writes a new file beside the old one, synchronises it, renames it, and synchronises the folder.
    fn write(&self, text: &str) -> Result<(), BudgetError> {
        let beside = beside(&self.path, "new");
        let written = || -> io::Result<()> {
            let mut file =
                private(fs::OpenOptions::new().write(true).create(true).truncate(true)).open(&beside)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&beside, &self.path)?;
            let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
        };
        written().map_err(|error| failed(&self.path, error))
    }
}

/// Locks a file of its own, since the budget's file is replaced at every result. The system releases the lock
/// when the process ends.
fn lock(path: &Path) -> Result<File, BudgetError> {
    let options = private(fs::OpenOptions::new().write(true).create(true).truncate(false));
    let file = options.open(beside(path, "lock")).map_err(|error| failed(path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(BudgetError::InUse { path: path.display().to_string() }),
        Err(TryLockError::Error(error)) => Err(failed(path, error)),
    }
}

fn private(options: &mut fs::OpenOptions) -> fs::OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.clone()
}

/// Returns `name.ending` in the same folder, so that a rename stays on one file system.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

fn failed(path: &Path, error: io::Error) -> BudgetError {
    BudgetError::Io { path: path.display().to_string(), error }
}

fn bytes_from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    (text.len() == 2 * N && text.is_ascii()).then_some(())?;
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const KEY: KeyId = KeyId([0xa5; 16]);

    #[test]
    fn terms_are_held_to_their_limits() {
        let terms = |bits, allowed| FloodingBudget::for_key_of_this_process(KEY, bits, allowed);
        assert!(terms(30, 1).is_ok() && terms(64, 1 << 32).is_ok());
        for (bits, allowed) in [(29, 1), (65, 1), (30, 0), (30, (1 << 32) + 1)] {
            assert!(matches!(terms(bits, allowed), Err(BudgetError::Terms { .. })));
        }
    }

    #[test]
    fn a_spent_result_stays_spent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("budget");
        let mut budget = FloodingBudget::create(&path, KEY, 30, 3).unwrap();
        assert!(matches!(FloodingBudget::open(&path), Err(BudgetError::InUse { .. })));
        budget.spend().unwrap();
        drop(budget);
        assert!(FloodingBudget::create(&path, KEY, 30, 3).is_err(), "overwrites");
        for left in [2, 1] {
            let mut budget = FloodingBudget::open(&path).unwrap();
            assert_eq!((budget.key(), budget.left(), budget.statistical_bits()), (KEY, left, 30));
            budget.spend().unwrap();
        }
        let mut budget = FloodingBudget::open(&path).unwrap();
        assert_eq!(budget.left(), 0);
        assert!(matches!(budget.spend(), Err(BudgetError::Spent { allowed: 3, .. })));
    }

    #[test]
    fn a_result_whose_count_cannot_be_written_is_lost_and_not_released() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let mut budget = FloodingBudget::create(&inner.join("budget"), KEY, 30, 5).unwrap();
        fs::remove_dir_all(&inner).unwrap();
        assert!(matches!(budget.spend(), Err(BudgetError::Io { .. })));
        assert_eq!(budget.left(), 4);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_leads_to_the_same_count() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("budget"), folder.path().join("link"));
        drop(FloodingBudget::create(&path, KeyId([7; 16]), 30, 5).unwrap());
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let held = FloodingBudget::open(&link).unwrap();
        assert!(matches!(FloodingBudget::open(&path), Err(BudgetError::InUse { .. })));
        assert!(FloodingBudget::create(&link, KeyId([7; 16]), 30, 5).is_err());
        drop(held);
        assert!(FloodingBudget::open(&path).is_ok());
    }

    #[test]
    fn what_a_crash_leaves_beside_the_file_does_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("budget");
        FloodingBudget::create(&path, KEY, 30, 5).unwrap().spend().unwrap();
        // A crash after the first byte of the next count.
        fs::write(beside(&path, "new"), "s").unwrap();
        let mut budget = FloodingBudget::open(&path).unwrap();
        assert_eq!(budget.left(), 4);
        budget.spend().unwrap();
        assert_eq!(budget.left(), 3);
    }

    #[test]
    fn a_damaged_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("budget");
        FloodingBudget::create(&path, KEY, 30, 17).unwrap().spend().unwrap();
        let bytes = fs::read(&path).unwrap();
        let refused = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            matches!(FloodingBudget::open(&path), Err(BudgetError::Damaged { .. }))
        };
        for i in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[i] ^= 1;
            assert!(refused(&flipped), "byte {i}");
            assert!(refused(&bytes[..i]), "cut at {i}");
        }
        assert!(refused(&[&bytes[..], b"\n"].concat()));
        assert!(!refused(&bytes));
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("budget");
        FloodingBudget::create(&path, KEY, 30, 17).unwrap().spend().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
