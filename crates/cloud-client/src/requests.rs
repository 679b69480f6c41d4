//! Requests to a cloud, and its refusals as errors.

use std::time::Duration;

use sotto_api::{Method, Route, shown};
use sotto_http::{Address, Cause, Failure, Limits, Received, Request, Site, Trust};

use crate::error::CloudError;
use crate::interrupt::Interrupt;

const LIMITS: Limits = Limits {
    // That of the largest envelope.
    largest_answer: 64 << 20,
    whole: None,
    // The cloud reads and checks uploads before it answers: 256 MiB of keys take some seconds.
    first_byte: Some(Duration::from_secs(120)),
    // The largest answer at 1 Mbit/s.
    transfer: Some(Duration::from_secs(600)),
    // The cloud closes idle connections after `header_seconds`, 10 by default.
    idle: Duration::from_secs(5),
};

/// The status of a request without the service's token.
const UNAUTHORISED: u16 = 401;

/// The cloud's address, the owner's token, and the check before each request.
pub(crate) struct Requests {
    site: Site,
    pub(crate) interrupt: Interrupt,
    /// What a refusal of the token says, in place of the cloud's words.
    pub(crate) other_token: Option<String>,
}

impl Requests {
    pub(crate) fn new(
        url: &str,
        token: &str,
        trust: &Trust,
        allow_plain_http: bool,
    ) -> Result<Self, CloudError> {
        let wrong = || CloudError::Address(shown(url));
        let address = Address::new(url).map_err(|_| wrong())?;
        if address.names_user() {
            return Err(wrong());
        }
        if address.is_exposed() && !allow_plain_http {
            return Err(CloudError::PlainHttp(shown(url)));
        }
        let site = Site::with_token(address, trust.clone(), token, &LIMITS).map_err(|_| CloudError::Token)?;
        Ok(Self { site, interrupt: Interrupt::default(), other_token: None })
    }

    pub(crate) fn url(&self) -> &str {
        self.site.url()
    }

    /// Sends a request to a route, and reads the answer. POST carries an idempotency key; it is sent once more if the
    /// connection breaks, and the cloud recognises the repetition.
    pub(crate) fn call<R: Route>(&self, request: Request<'_>) -> Result<R::Answer, CloudError> {
        let answer = if R::METHOD == Method::Post {
            let key = random_key()?;
            let request = request.under(&key);
            match self.send(R::ABOUT, &request) {
                Err(CloudError::Away { .. }) => self.send(R::ABOUT, &request),
                answered => answered,
            }
        } else {
            self.send(R::ABOUT, &request)
        }?;
        answer
            .read::<R>()
            .map_err(|error| CloudError::Unreadable { what: R::ABOUT, reason: shown(&error.to_string()) })
    }

    fn send(&self, what: &'static str, request: &Request<'_>) -> Result<Received, CloudError> {
        if self.interrupt.is_due() {
            return Err(CloudError::Interrupted { what });
        }
        let answer = self.site.send(request).map_err(|failure| self.failed(what, &failure))?;
        if answer.is_success() {
            return Ok(answer);
        }
        let problem = answer.problem();
        let other_token = self.other_token.clone().filter(|_| answer.status == UNAUTHORISED);
        let given =
            other_token.into_iter().chain([problem.detail, problem.title]).find(|text| !text.is_empty());
        let detail = given.unwrap_or_else(|| "no reason given".to_owned());
        Err(CloudError::Refused { what, status: answer.status, kind: problem.kind, detail })
    }

    fn failed(&self, what: &'static str, failure: &Failure) -> CloudError {
        let reason = shown(&failure.reason);
        match failure.cause {
            Cause::TooLong(limit) => CloudError::TooLong { what, limit },
            Cause::Tls => CloudError::Tls(reason),
            Cause::Away => CloudError::Away { url: self.url().to_owned(), reason },
        }
    }
}

/// Returns a random idempotency key: 32 hexadecimal digits.
fn random_key() -> Result<String, CloudError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| CloudError::Randomness)?;
    Ok(hex::encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    #[test]
    fn addresses_are_servers() {
        let url = |url| {
            Requests::new(url, TOKEN, &Trust::default(), false).map(|requests| requests.url().to_owned())
        };
        assert_eq!(url("http://127.0.0.1:80/"), Ok("http://127.0.0.1:80".to_owned()));
        assert_eq!(url("https://example.org/sotto"), Ok("https://example.org/sotto".to_owned()));
        for wrong in ["", "example.org", "ftp://example.org", "http://", "/v1", "http://127.0.0.1/?b=c"] {
            assert_eq!(url(wrong), Err(CloudError::Address(wrong.into())), "{wrong}");
        }
        assert_eq!(
            url("https://u@example.org"),
            Err(CloudError::Address("https://u@example.org".into())),
            "credentials in an address would be shown in errors"
        );
    }

    #[test]
    fn a_token_leaves_this_machine_over_plain_http_only_if_allowed() {
        for plain in ["http://10.0.0.1:7410", "HTTP://example.org", "http://localhost.example.org"] {
            assert_eq!(
                Requests::new(plain, TOKEN, &Trust::default(), false).err(),
                Some(CloudError::PlainHttp(plain.to_owned())),
                "{plain}"
            );
            assert!(Requests::new(plain, TOKEN, &Trust::default(), true).is_ok(), "{plain}");
        }
        for fine in ["https://example.org", "HTTPS://a.org", "http://localhost:1", "http://[::1]:7410"] {
            assert!(Requests::new(fine, TOKEN, &Trust::default(), false).is_ok(), "{fine}");
        }
    }

    #[test]
    fn tokens_are_headers() {
        for wrong in ["short", "0123456789abcdef\r\nx: y", "0123456789 abcdef", ""] {
            assert_eq!(
                Requests::new("http://127.0.0.1", wrong, &Trust::default(), false).err(),
                Some(CloudError::Token),
                "{wrong}"
            );
        }
    }
}
