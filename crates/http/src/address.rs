//! Addresses of services.

use std::net::IpAddr;

use ureq::http::Uri;

/// The address of a service: `http://host:port` or `https://host:port`, perhaps with a path.
///
/// ```
/// use sotto_http::Address;
///
/// let here = Address::new("http://127.0.0.1:7410/")?;
/// assert_eq!((here.url(), here.is_exposed()), ("http://127.0.0.1:7410", false));
/// // A token would travel in the clear to another machine.
/// assert!(Address::new("http://farm.example:7410")?.is_exposed());
/// # Ok::<(), sotto_http::NotAnAddress>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    url: String,
    is_plain: bool,
    is_loopback: bool,
    names_user: bool,
}

/// The text is not an HTTP address.
///
/// Example: [`Address`]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an address of the form http://host:port or https://host:port")]
pub struct NotAnAddress(pub String);

impl Address {
    /// Parses an address. It may end with `/`, and has no query.
    ///
    /// # Errors
    /// [`NotAnAddress`] if the text is none.
    pub fn new(url: &str) -> Result<Self, NotAnAddress> {
        let wrong = || NotAnAddress(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let host = uri.host().ok_or_else(wrong)?;
        let is_plain = match uri.scheme_str() {
            Some("http") => true,
            Some("https") => false,
            _ => return Err(wrong()),
        };
        if uri.query().is_some() {
            return Err(wrong());
        }
        Ok(Self {
            url: url.trim_end_matches('/').to_owned(),
            is_plain,
            is_loopback: is_loopback(host),
            names_user: uri.authority().is_some_and(|authority| authority.as_str().contains('@')),
        })
    }

    /// Returns the address without a `/` at its end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns true for plain HTTP to another machine: anyone on the network path can read requests.
    #[must_use]
    pub fn is_exposed(&self) -> bool {
        self.is_plain && !self.is_loopback
    }

    /// Returns true if the address has credentials, which errors would show.
    #[must_use]
    pub fn names_user(&self) -> bool {
        self.names_user
    }

    /// Returns true if requests may go through the proxy that the environment names. A proxy is another machine:
    /// loopback traffic must stay here, and over plain HTTP it would see a token.
    pub(crate) fn may_use_proxy(&self, with_token: bool) -> bool {
        !(self.is_loopback || self.is_plain && with_token)
    }
}

/// Returns true if a host is this machine.
///
/// ```
/// use sotto_http::is_loopback;
///
/// assert!(is_loopback("localhost") && is_loopback("[::1]") && !is_loopback("farm.example"));
/// ```
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_http_or_https() {
        let url = |text| Address::new(text).map(|address| address.url);
        assert_eq!(url("http://127.0.0.1:80/"), Ok("http://127.0.0.1:80".to_owned()));
        assert_eq!(url("https://example.org/a"), Ok("https://example.org/a".to_owned()));
        for wrong in ["", "example.org", "ftp://example.org", "http://", "/v1", "http://a/?b=c"] {
            assert_eq!(url(wrong), Err(NotAnAddress(wrong.into())), "{wrong}");
        }
    }

    #[test]
    fn plain_http_to_another_machine_is_exposed() {
        let is_exposed = |text| Address::new(text).unwrap().is_exposed();
        for exposed in ["http://10.0.0.1:7410", "HTTP://example.org", "http://localhost.example.org"] {
            assert!(is_exposed(exposed), "{exposed}");
        }
        for hidden in
            ["https://a.org", "HTTPS://a.org", "http://localhost:1", "http://[::1]:7410", "http://127.1.2.3"]
        {
            assert!(!is_exposed(hidden), "{hidden}");
        }
    }

    #[test]
    fn loopback_is_recognised() {
        assert!(["localhost", "127.0.0.1", "127.1.2.3", "[::1]"].into_iter().all(is_loopback));
        assert!(!["10.0.0.1", "example.org", "localhost.example.org"].into_iter().any(is_loopback));
    }

    #[test]
    fn a_proxy_sees_neither_loopback_traffic_nor_a_plain_token() {
        let may = |text, with_token| Address::new(text).unwrap().may_use_proxy(with_token);
        assert!(!may("http://127.0.0.1", false) && !may("https://localhost", true));
        assert!(may("http://example.org", false) && !may("http://example.org", true));
        assert!(may("https://example.org", true));
    }
}
