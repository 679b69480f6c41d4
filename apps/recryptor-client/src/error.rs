//! Errors of connecting to a recryptor.

use sotto_wire::WireError;

/// Reason why a connection to a recryptor cannot be set up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConnectError {
    /// The text is not an HTTP address.
    #[error("{0:?} is not an address of the form http://host:port or https://host:port")]
    Address(String),
    /// The address is plain HTTP to another machine.
    #[error(
        "{0:?} is another machine over plain HTTP: the token could be read on the way. Take https, or allow plain HTTP if the \
         network is yours"
    )]
    PlainHttp(String),
    /// The text is not a token.
    #[error("a token has 16 to 256 visible characters")]
    Token,
    /// The recryptor does not answer.
    #[error("the recryptor does not answer: {0}")]
    Unreachable(String),
    /// The recryptor does not know this caller, or the server is not a recryptor.
    #[error("the recryptor refuses to give its keys ({status}): {detail}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The server's explanation.
        detail: String,
    },
    /// The answer contains no valid public keys.
    #[error("the recryptor's keys cannot be used: {0}")]
    Keys(#[from] WireError),
}
