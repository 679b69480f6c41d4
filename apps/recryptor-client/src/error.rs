//! Why there is no recryptor at an address.

use sotto_wire::WireError;

/// Why there is no recryptor at an address.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConnectError {
    /// No address.
    #[error("{0:?} is not an address of the form http://host:port or https://host:port")]
    Address(String),
    /// Plain HTTP to another machine.
    #[error(
        "{0:?} is another machine over plain HTTP: the token could be read on the way. Take https, or allow plain HTTP if the \
         network is yours"
    )]
    PlainHttp(String),
    /// No token.
    #[error("a token has 16 to 256 visible characters")]
    Token,
    /// It does not answer.
    #[error("the recryptor does not answer: {0}")]
    Unreachable(String),
    /// It does not want this caller, or is none.
    #[error("the recryptor refuses to give its keys ({status}): {detail}")]
    Refused {
        /// Of the answer.
        status: u16,
        /// In its words.
        detail: String,
    },
    /// Its keys are none.
    #[error("the recryptor's keys cannot be used: {0}")]
    Keys(#[from] WireError),
}
