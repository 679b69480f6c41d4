//! Codes that begin a session, and sessions.
//!
//! A code works once, for ten minutes. The key of a session stays in the page's memory; the console keeps its digest alone.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rand_core::Rng as _;
use sotto_owner::OwnerError;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// Characters of a code: no letter looks like a digit. 32 of them, 5 bits each.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// Characters of a code: 60 bits.
const CODE: usize = 12;
/// The time for which a code works.
const CODE_LIVES: Duration = Duration::from_secs(600);
/// Codes and sessions at one time: the oldest go first.
const MOST: usize = 16;
/// The time between two passphrases that are tried; twice as long after each that is wrong.
const BETWEEN: Duration = Duration::from_secs(1);
/// The longest of these times.
const LONGEST: Duration = Duration::from_secs(60);

/// Returns random bytes.
pub(super) fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>, OwnerError> {
    let mut rng = sotto_ring::secure_rng().map_err(|_| OwnerError::Randomness)?;
    let mut bytes = Zeroizing::new([0; N]);
    rng.fill_bytes(&mut *bytes);
    Ok(bytes)
}

/// The digest under which a code or a key is kept.
fn digest(text: &str) -> [u8; 32] {
    *blake3::hash(text.as_bytes()).as_bytes()
}

struct Code {
    digest: [u8; 32],
    until: Instant,
}

struct Session {
    digest: [u8; 32],
    /// The last request that a person caused.
    used: Instant,
}

/// The codes and sessions of a console.
pub(super) struct Access {
    idle: Duration,
    codes: Mutex<Vec<Code>>,
    sessions: Mutex<Vec<Session>>,
    /// The time of the last passphrase that was tried, and how many were wrong in a row.
    tried: Mutex<(Option<Instant>, u32)>,
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Access {
    /// Sessions end after `idle` without a request of a person.
    pub(super) fn new(idle: Duration) -> Self {
        Self { idle, codes: Mutex::default(), sessions: Mutex::default(), tried: Mutex::default() }
    }

    pub(super) fn idle(&self) -> Duration {
        self.idle
    }

    /// Makes a code, as `ABCD-EFGH-JKLM`.
    pub(super) fn new_code(&self) -> Result<Zeroizing<String>, OwnerError> {
        let bytes = random::<CODE>()?;
        let letters: Zeroizing<Vec<u8>> =
            Zeroizing::new(bytes.iter().map(|byte| LETTERS[usize::from(byte % 32)]).collect());
        let mut code = Zeroizing::new(String::with_capacity(CODE + 2));
        for (at, letter) in letters.iter().enumerate() {
            if at > 0 && at % 4 == 0 {
                code.push('-');
            }
            code.push(char::from(*letter));
        }
        let mut codes = locked(&self.codes);
        let now = Instant::now();
        codes.retain(|code| code.until > now);
        if codes.len() >= MOST {
            codes.remove(0);
        }
        codes.push(Code { digest: digest(&plain(&code)), until: now + CODE_LIVES });
        Ok(code)
    }

    /// Takes a code, which works no more. Returns false if it is none.
    pub(super) fn take_code(&self, code: &str) -> bool {
        let given = digest(&plain(code));
        let mut codes = locked(&self.codes);
        let now = Instant::now();
        codes.retain(|code| code.until > now);
        let Some(at) = codes.iter().position(|code| bool::from(code.digest.ct_eq(&given))) else {
            return false;
        };
        codes.remove(at);
        true
    }

    /// Returns false if a passphrase was tried a moment ago: then none is tried now.
    pub(super) fn may_try(&self) -> bool {
        let mut tried = locked(&self.tried);
        let now = Instant::now();
        let between = BETWEEN.saturating_mul(1 << tried.1.saturating_sub(1).min(6)).min(LONGEST);
        if tried.0.is_some_and(|before| now.duration_since(before) < between) {
            return false;
        }
        tried.0 = Some(now);
        true
    }

    /// Notes that a passphrase was wrong: the next one waits longer.
    pub(super) fn failed(&self) {
        let mut tried = locked(&self.tried);
        tried.1 = tried.1.saturating_add(1);
    }

    /// Notes that a passphrase was right.
    pub(super) fn succeeded(&self) {
        locked(&self.tried).1 = 0;
    }

    /// Begins a session, and returns its key.
    pub(super) fn begin(&self) -> Result<Zeroizing<String>, OwnerError> {
        let key = Zeroizing::new(hex::encode(*random::<32>()?));
        let mut sessions = locked(&self.sessions);
        if sessions.len() >= MOST {
            sessions.remove(0);
        }
        sessions.push(Session { digest: digest(&key), used: Instant::now() });
        Ok(key)
    }

    /// Returns true if a key is that of a session. A request of a person keeps it awake.
    pub(super) fn is_session(&self, key: &str, of_person: bool) -> bool {
        let given = digest(key);
        let mut sessions = locked(&self.sessions);
        let now = Instant::now();
        sessions.retain(|session| now.duration_since(session.used) < self.idle);
        let Some(session) = sessions.iter_mut().find(|session| bool::from(session.digest.ct_eq(&given)))
        else {
            return false;
        };
        if of_person {
            session.used = now;
        }
        true
    }

    /// Returns true if there is a session.
    pub(super) fn is_any(&self) -> bool {
        let now = Instant::now();
        locked(&self.sessions).iter().any(|session| now.duration_since(session.used) < self.idle)
    }

    /// Ends the session of a key.
    pub(super) fn end(&self, key: &str) {
        let given = digest(key);
        locked(&self.sessions).retain(|session| !bool::from(session.digest.ct_eq(&given)));
    }
}

/// Returns a code without what people add to it: hyphens, spaces, small letters.
fn plain(code: &str) -> Zeroizing<String> {
    let letters = code.chars().filter(char::is_ascii_alphanumeric).take(64);
    Zeroizing::new(letters.map(|letter| letter.to_ascii_uppercase()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_works_once_however_it_is_typed() {
        let access = Access::new(Duration::from_secs(60));
        let code = access.new_code().unwrap();
        assert_eq!(code.len(), 14, "{}", *code);
        assert!(!access.take_code("AAAA-AAAA-AAAA"));
        assert!(access.take_code(&code.to_lowercase().replace('-', " ")));
        assert!(!access.take_code(&code), "it worked before");
    }

    #[test]
    fn a_session_ends_when_nobody_uses_it() {
        let access = Access::new(Duration::from_millis(300));
        let key = access.begin().unwrap();
        assert!(access.is_session(&key, true) && !access.is_session("0", true));
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(350) {
            access.is_session(&key, false);
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!access.is_session(&key, true), "requests without a person do not keep it");
        let other = access.begin().unwrap();
        access.end(&other);
        assert!(!access.is_session(&other, true) && !access.is_any());
    }

    #[test]
    fn wrong_passphrases_make_the_next_one_wait() {
        let access = Access::new(Duration::from_secs(60));
        assert!(access.may_try() && !access.may_try(), "one a second");
        (0..3).for_each(|_| access.failed());
        std::thread::sleep(Duration::from_millis(1050));
        assert!(!access.may_try(), "four seconds after the third wrong one");
        access.succeeded();
        assert!(access.may_try());
    }

    #[test]
    fn old_codes_give_way() {
        let access = Access::new(Duration::from_secs(60));
        let first = access.new_code().unwrap();
        (0..MOST).for_each(|_| drop(access.new_code().unwrap()));
        assert!(!access.take_code(&first));
    }
}
