//! Sends batches to a recryptor.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use sotto_api::recryptor::{Exchange, FetchElGamalKey, FetchPaillierKey, FetchQuota};
use sotto_api::{Route, reason};
use sotto_http::{Received, Request, Site};
use sotto_partial::elgamal::Group;
use sotto_partial::recrypt::{self, LARGEST_BATCH, Recrypt, RecryptError, Response};
use sotto_partial::{elgamal, paillier};
use sotto_wire::{
    BatchId, ExchangeKeys, elgamal_group, read_elgamal_public_key, read_exchange_response,
    read_paillier_public_key, write_exchange_request,
};

use crate::address::{Address, LARGEST_ANSWER, WHOLE};
use crate::error::ConnectError;

/// A recryptor answers the same batch at most 16 times; with these waits, half a minute has fewer attempts.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(4);
/// Time after which a trip is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// A recryptor at an address. A trip whose answer was lost is repeated under the same batch name, so that it is charged
/// once. A recryptor that was restarted meanwhile answers it too.
pub struct RemoteRecryptor {
    site: Site,
    paillier: Arc<paillier::PublicKey>,
    elgamal: Option<Arc<elgamal::PublicKey>>,
    patience: Duration,
}

/// Outcome of an attempt.
enum Attempt {
    Answered(Vec<Response>),
    /// The recryptor may answer later; the reason.
    Later(String),
}

impl RemoteRecryptor {
    /// Uses the public keys given by the owner. Sends nothing.
    ///
    /// # Errors
    /// [`ConnectError::Token`] if the text is not a token.
    pub fn new(
        address: &Address,
        token: &str,
        paillier: Arc<paillier::PublicKey>,
        elgamal: Option<Arc<elgamal::PublicKey>>,
    ) -> Result<Self, ConnectError> {
        Ok(Self { site: address.site(token)?, paillier, elgamal, patience: PATIENCE })
    }

    /// Fetches the public keys from the recryptor. Use this only if the connection is trusted.
    ///
    /// # Errors
    /// [`ConnectError`] if the recryptor cannot be reached, refuses, or sends invalid keys.
    pub fn connect(address: &Address, token: &str) -> Result<Self, ConnectError> {
        let site = address.site(token)?;
        let paillier = fetch::<FetchPaillierKey>(&site)?.unwrap_or_default();
        let paillier = Arc::new(read_paillier_public_key(&paillier)?);
        let elgamal = match fetch::<FetchElGamalKey>(&site)? {
            None => None,
            Some(frame) => {
                let group = Group::new(elgamal_group(&frame)?).map_err(sotto_wire::WireError::from)?;
                Some(Arc::new(read_elgamal_public_key(&frame, &Arc::new(group))?))
            }
        };
        Ok(Self { site, paillier, elgamal, patience: PATIENCE })
    }

    /// Sets the time after which a trip is given up, including the wait for an answer; the default is 30 s.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Returns the key that inputs have to be encrypted under.
    pub fn paillier_key(&self) -> &Arc<paillier::PublicKey> {
        &self.paillier
    }

    /// Returns the ElGamal key, if the recryptor has one.
    pub fn elgamal_key(&self) -> Option<&Arc<elgamal::PublicKey>> {
        self.elgamal.as_ref()
    }

    fn keys(&self) -> ExchangeKeys<'_> {
        ExchangeKeys { paillier: &self.paillier, elgamal: self.elgamal.as_deref() }
    }

    fn attempt(
        &self,
        batch: BatchId,
        asked: &[recrypt::Request],
        frame: &[u8],
        longest: Duration,
    ) -> Result<Attempt, RecryptError> {
        let request = Request::to::<Exchange>([], &(), frame).within(longest.min(WHOLE));
        let answer = match self.site.send(&request) {
            Ok(answer) => answer,
            Err(failure) => return Ok(Attempt::Later(failure.reason)),
        };
        let (status, problem) = (answer.status, answer.problem());
        match (status, problem.reason.as_str()) {
            (200, _) => self.responses(batch, asked, &answer.body).map(Attempt::Answered),
            (401, _) => Err(RecryptError::Stranger),
            (408 | 425 | 500.., _) => Ok(Attempt::Later(format!("it answers {status}: {}", problem.detail))),
            // This applies to this batch name only; under another name the batch is answered, and charged.
            (429, reason::ASKED_TOO_OFTEN) => Err(RecryptError::Lost { reason: problem.detail }),
            (429, reason::OVER_QUOTA) => Err(self.over_quota(asked, longest)),
            _ => Err(declined(&answer)),
        }
    }

    /// Parses the answers; fails unless they match these requests.
    fn responses(
        &self,
        batch: BatchId,
        asked: &[recrypt::Request],
        bytes: &[u8],
    ) -> Result<Vec<Response>, RecryptError> {
        let read = read_exchange_response(bytes, LARGEST_ANSWER, self.keys());
        let (found, responses) = read.map_err(|_| RecryptError::Answers)?;
        let belongs = |(request, response): (&recrypt::Request, &Response)| {
            matches!(request, recrypt::Request::ToElGamal(..)) == matches!(response, Response::ElGamal(_))
        };
        let all = responses.len() == asked.len() && asked.iter().zip(&responses).all(belongs);
        if found == batch && all { Ok(responses) } else { Err(RecryptError::Answers) }
    }

    fn over_quota(&self, asked: &[recrypt::Request], longest: Duration) -> RecryptError {
        let request = Request::to::<FetchQuota>([], &(), &()).within(longest.min(WHOLE));
        let answer = self.site.send(&request).ok();
        let left = answer.and_then(|answer| Some(answer.read::<FetchQuota>().ok()?.left));
        let asked = asked.iter().map(|request| request.decryptions() as u64).sum();
        RecryptError::Quota { asked, left: left.unwrap_or(0) }
    }
}

/// Returns the frame of a public key; `None` if the recryptor has no such key.
fn fetch<R>(site: &Site) -> Result<Option<Vec<u8>>, ConnectError>
where
    R: for<'n> Route<Names<'n> = [&'n str; 0], Query = (), Request = (), Answer = Vec<u8>>,
{
    let answer = site.send(&Request::to::<R>([], &(), &()).within(WHOLE));
    let answer = answer.map_err(|failure| ConnectError::Unreachable(failure.reason))?;
    match (answer.status, answer.problem()) {
        (200, _) => Ok(Some(answer.body)),
        (404, problem) if problem.reason == reason::NO_ELGAMAL_KEY => Ok(None),
        (status, problem) => Err(ConnectError::Refused { status, detail: problem.detail }),
    }
}

fn declined(answer: &Received) -> RecryptError {
    let (status, detail) = (answer.status, answer.problem().detail);
    RecryptError::Declined { reason: if detail.is_empty() { format!("it answers {status}") } else { detail } }
}

/// Returns the waits between attempts: doubling from 0.1 s to 4 s.
fn waits() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(FIRST_WAIT), |wait| Some((2 * *wait).min(LONGEST_WAIT)))
}

impl Recrypt for RemoteRecryptor {
    fn exchange(&self, batch: &[recrypt::Request]) -> Result<Vec<Response>, RecryptError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        if batch.len() > LARGEST_BATCH {
            return Err(RecryptError::Batch { found: batch.len(), most: LARGEST_BATCH });
        }
        let mut name = [0; 16];
        getrandom::fill(&mut name).map_err(|_| RecryptError::Randomness)?;
        let name = BatchId(name);
        let frame = write_exchange_request(name, self.keys(), batch)
            .map_err(|error| RecryptError::Declined { reason: error.to_string() })?;
        let (start, mut waits) = (Instant::now(), waits());
        loop {
            let reason =
                match self.attempt(name, batch, &frame, self.patience.saturating_sub(start.elapsed()))? {
                    Attempt::Answered(responses) => return Ok(responses),
                    Attempt::Later(reason) => reason,
                };
            let wait = waits.next().unwrap_or(LONGEST_WAIT);
            if start.elapsed() + wait > self.patience {
                return Err(RecryptError::Lost { reason });
            }
            thread::sleep(wait);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_before_a_batch_was_asked_too_often() {
        // Worst case: an attempt takes no time.
        let mut passed = Duration::ZERO;
        let within = |wait: &Duration| {
            passed += *wait;
            passed <= PATIENCE
        };
        assert!(1 + waits().take_while(within).count() < 16);
    }
}
