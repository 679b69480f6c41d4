//! The kinds of frames.

use core::fmt;

/// Declares the kinds: the documentation, name, number and text of each.
macro_rules! kinds {
    ($($(#[$documentation:meta])* $kind:ident = $number:literal, $text:literal;)*) => {
        /// The kind of object that a frame holds.
        ///
        /// ```
        /// use sotto_rlwe::{Bfv, Params};
        /// use sotto_wire::{Kind, frame_kind, write_parameters};
        ///
        /// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
        /// let kind = frame_kind(&write_parameters(params.spec()))?;
        /// assert_eq!(kind, Kind::Parameters);
        /// assert_eq!(Kind::KeptWindow.to_string(), "a window with its stream's header");
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[$documentation])* $kind = $number,)*
        }

        impl Kind {
            pub(crate) fn from_number(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$kind),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for Kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$kind => $text,)*
                })
            }
        }
    };
}

/// The numbers of kinds that earlier programs wrote: windows of places (19) and their sums (20, 26). They are never given
/// again.
pub(crate) const OF_PLACES: [u8; 3] = [19, 20, 26];

kinds! {
    /// The numbers that define a parameter set.
    Parameters = 1, "parameters";
    /// Two or three polynomials, or one and a seed.
    Ciphertext = 2, "a ciphertext";
    /// A public key of BFV, BGV or CKKS.
    PublicKey = 3, "a public key";
    /// Keys for products, rotations and other secret keys.
    EvaluationKeys = 4, "evaluation keys";
    /// The steps of a computation.
    Plan = 5, "a plan";
    /// A signed envelope around a ciphertext.
    Envelope = 6, "an envelope";
    /// A public key whose mask is written out, made by another library.
    ExpandedPublicKey = 7, "a public key written out";
    /// Evaluation keys whose masks are written out.
    ExpandedEvaluationKeys = 8, "evaluation keys written out";
    /// A public key of Paillier's scheme.
    PaillierPublicKey = 9, "a public key of Paillier's";
    /// Ciphertexts of Paillier's scheme under one key.
    PaillierCiphertexts = 10, "ciphertexts of Paillier's";
    /// A public key of ElGamal's scheme.
    ElGamalPublicKey = 11, "a public key of ElGamal's";
    /// Ciphertexts of ElGamal's scheme under one key.
    ElGamalCiphertexts = 12, "ciphertexts of ElGamal's";
    /// A public key of ElGamal's scheme on Ristretto.
    RistrettoPublicKey = 13, "a public key on Ristretto";
    /// Ciphertexts of ElGamal's scheme on Ristretto under one key.
    RistrettoCiphertexts = 14, "ciphertexts on Ristretto";
    /// Requests that the recryptor answers together.
    ExchangeRequest = 15, "a batch for the re-encryption agent";
    /// A batch of the re-encryption agent's responses.
    ExchangeResponse = 16, "a batch from the re-encryption agent";
    /// A device's request for the position of a stream.
    PositionRequest = 17, "a question for a stream's position";
    /// An envelope without its ciphertext.
    SignedHeader = 18, "a signed header";
    /// The description of a stream of windows of slots.
    StreamHeader = 21, "the header of a stream";
    /// A window of a stream without its coefficients.
    SignedWindow = 22, "a signed window without its coefficients";
    /// A stored window that can be read alone.
    KeptWindow = 23, "a window with its stream's header";
    /// A compact ciphertext of slots: some coefficients of each limb.
    CompactSlots = 24, "a compact ciphertext of slots";
    /// A window of slots: a fresh compact ciphertext whose seed follows from a name.
    SlotsWindow = 25, "a window of slots";
    /// An answer ciphertext whose coefficients are rounded to few bits.
    ReducedCiphertext = 27, "a reduced ciphertext";
    /// The size and root of the log of a stream.
    StreamHead = 28, "the head of a stream's log";
    /// The cloud's signed statement of some work.
    Transcript = 29, "a transcript";
    /// An encrypted vector of the facade: its public facts and its ciphertexts.
    Vector = 30, "an encrypted vector";
    /// Parameters, public key and evaluation keys of an owner.
    OwnerKeys = 31, "an owner's public keys";
    /// The description of a stream of sums without a lattice.
    SumsHeader = 32, "the header of a stream of sums";
    /// Sums of windows of a stream of sums, with their tags.
    SumsAnswer = 33, "sums with tags";
    /// A window of a stream of sums without its bodies.
    SignedSums = 34, "a signed window of sums without its bodies";
    /// A stored window of a stream of sums that can be read alone.
    KeptSumsWindow = 35, "a window of sums with its stream's header";
    /// A device's request for the heads of its windows of a stream.
    HeadsRequest = 36, "a question for the heads of a stream";
    /// Windows of a stream without their bodies.
    Heads = 37, "heads of a stream";
    /// An order of the owner about a device.
    Order = 38, "an owner's order";
    /// Windows of a stream's log without their bodies.
    LogPage = 39, "a page of a log";
}
