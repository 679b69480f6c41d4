//! Addresses of recryptors.

use std::time::Duration;

use sotto_http::{Limits, Site, Trust};

use crate::error::ConnectError;

/// Maximum bytes of an answer: 256 ciphertexts of 1,024 bytes with their framing fit.
pub(crate) const LARGEST_ANSWER: u64 = 1 << 20;
/// Maximum time for one request.
pub(crate) const WHOLE: Duration = Duration::from_secs(120);

/// The address of a recryptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    address: sotto_http::Address,
    trust: Trust,
}

impl Address {
    /// Accepts `https://host:port`, or `http://host:port` on this machine. Over plain HTTP to another machine, anyone
    /// on the network path could read the token.
    ///
    /// # Errors
    /// [`ConnectError::Address`] and [`ConnectError::PlainHttp`]
    pub fn new(url: &str) -> Result<Self, ConnectError> {
        let address = Self::with_plain_http(url)?;
        if address.address.is_exposed() {
            return Err(ConnectError::PlainHttp(url.to_owned()));
        }
        Ok(address)
    }

    /// Like [`Address::new`], but also accepts `http://host:port` of any machine. Only for a network under one's own
    /// control.
    ///
    /// # Errors
    /// [`ConnectError::Address`]
    pub fn with_plain_http(url: &str) -> Result<Self, ConnectError> {
        let address = sotto_http::Address::new(url).map_err(|_| ConnectError::Address(url.to_owned()))?;
        Ok(Self { address, trust: Trust::default() })
    }

    /// Accepts only certificates of these authorities.
    #[must_use]
    pub fn trusting(self, trust: Trust) -> Self {
        Self { trust, ..self }
    }

    /// Returns the recryptor at this address, asked with a caller's token.
    pub(crate) fn site(&self, token: &str) -> Result<Site, ConnectError> {
        let limits = Limits { largest_answer: LARGEST_ANSWER, ..Limits::default() };
        let site = Site::with_token(self.address.clone(), self.trust.clone(), token, &limits);
        site.map_err(|_| ConnectError::Token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_address_and_what_is_no_token_is_refused() {
        let url = |text| Address::new(text).map(|it| it.address.url().to_owned());
        assert_eq!(url("http://127.0.0.1:80/"), Ok("http://127.0.0.1:80".into()));
        for wrong in ["", "example.org", "ftp://example.org", "http://", "http://a/?b=c"] {
            assert_eq!(Address::new(wrong), Err(ConnectError::Address(wrong.into())), "{wrong}");
        }
        let here = Address::new("http://[::1]").unwrap();
        assert!(here.site("0123456789abcdef").is_ok());
        for wrong in ["short", "0123456789abcdef\r\nx: y", ""] {
            assert_eq!(here.site(wrong).err(), Some(ConnectError::Token), "{wrong}");
        }
    }

    #[test]
    fn a_token_leaves_this_machine_over_plain_http_only_if_told() {
        for plain in [
            "http://10.0.0.1:7420",
            "HTTP://example.org",
            "http://localhost.example.org",
            "http://u@127.0.0.1@a.org",
        ] {
            let refused = Address::new(plain).unwrap_err();
            assert!(matches!(refused, ConnectError::PlainHttp(_) | ConnectError::Address(_)), "{plain}");
        }
        assert_eq!(
            Address::new("http://10.0.0.1:7420"),
            Err(ConnectError::PlainHttp("http://10.0.0.1:7420".into()))
        );
        assert!(Address::with_plain_http("http://10.0.0.1:7420").is_ok());
        for fine in ["https://example.org", "HTTPS://example.org", "http://localhost:1", "http://127.0.0.1"] {
            assert!(Address::new(fine).is_ok(), "{fine}");
        }
    }
}
