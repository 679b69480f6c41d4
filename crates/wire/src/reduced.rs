//! Reduced ciphertexts, answers with coefficients of few bits, as bytes.

use alloc::vec::Vec;

use sotto_ring::{Modulus, Target};
use sotto_rlwe::{Ciphertext, Expected, Params, Reduced, Reduction, Scheme, Selection, Unexpected};

use crate::arrived::Arrived;
use crate::bits::pack;
use crate::ciphertext::{CiphertextHeader, HEADER, REDUCED, write_header};
use crate::error::WireError;
use crate::frame::{self, FRAME_OVERHEAD};
use crate::kind::Kind;
use crate::reader::Reader;

/// Bytes between the header and the coefficients: bits per coefficient, log2 of the spacing, count.
const FORM: usize = 1 + 1 + 4;

/// Returns the length in bytes of the frame of a reduced ciphertext of this form.
pub fn reduced_bytes<S: Scheme>(params: &Params<S>, reduction: Reduction) -> usize {
    let degree = params.degree();
    let body = packed(reduction.selection.coefficients(degree), reduction.width);
    FRAME_OVERHEAD + HEADER + FORM + packed(degree, reduction.width) + body
}

fn packed(coefficients: usize, width: u32) -> usize {
    (coefficients * width as usize).div_ceil(8)
}

/// Returns the frame of a reduced ciphertext.
pub fn write_reduced<S: Scheme>(reduced: &Reduced<S>) -> Vec<u8> {
    let (params, Reduction { width, selection }) = (reduced.params(), reduced.reduction());
    frame::write(
        Kind::ReducedCiphertext,
        reduced_bytes(params, reduced.reduction()) - FRAME_OVERHEAD,
        |out| {
            write_header(params, reduced.key(), reduced.shape(), REDUCED, out);
            out.extend_from_slice(&[width as u8, selection.spacing.ilog2() as u8]);
            out.extend_from_slice(&(selection.count as u32).to_le_bytes());
            pack(out, reduced.mask(), width);
            pack(out, reduced.body(), width);
        },
    )
}

/// Reads a reduced ciphertext of these parameters. Checks the length before it allocates. The shape is the sender's
/// claim.
///
/// # Errors
/// [`WireError`] if the bytes are not a frame of a reduced ciphertext, or its form does not hold an answer of the
/// claimed shape.
pub fn read_reduced<S: Scheme>(bytes: &[u8], params: &Params<S>) -> Result<Arrived<Reduced<S>>, WireError> {
    let widest = Reduction { width: *sotto_rlwe::REDUCED_WIDTHS.end(), selection: Selection::ALL };
    let limit = reduced_bytes(params, widest) as u64;
    let mut reader = frame::open(bytes, Kind::ReducedCiphertext, limit)?;
    let header = CiphertextHeader::parse(&mut reader, Kind::ReducedCiphertext)?;
    let (key, shape) = (header.key, header.shape(params)?);
    let [width, log_spacing] = reader.array()?;
    let (width, count, degree) = (u32::from(width), reader.u32()? as usize, params.degree());
    if u32::from(log_spacing) > degree.ilog2() {
        return Err(WireError::Value("coefficients that travel are at most the degree apart"));
    }
    let selection = Selection { spacing: 1 << log_spacing, count };
    let reduction = Reduction { width, selection };
    let refused = |_| WireError::Value("this form does not hold an answer of this shape, or does not exist");
    shape.reduced(params, reduction).map_err(refused)?;
    reader.expect_left(reduced_bytes(params, reduction) - FRAME_OVERHEAD - HEADER - FORM)?;
    let mask = unpacked(&mut reader, degree, width)?;
    let body = unpacked(&mut reader, selection.coefficients(degree), width)?;
    Reduced::from_parts(params, key, shape, reduction, [body, mask])
        .map(Arrived::new)
        .map_err(|_| WireError::Value("the ciphertext is transparent: its mask is zero"))
}

/// Reads `count` coefficients of `width` bits each. Refuses padding bits that are not zero.
fn unpacked(reader: &mut Reader<'_>, count: usize, width: u32) -> Result<Vec<u64>, WireError> {
    let bytes = reader.take(packed(count, width))?;
    let over = count * width as usize % 8;
    if over != 0 && bytes.last().is_some_and(|last| last >> over != 0) {
        return Err(WireError::Padding);
    }
    // 2^width − 1: every value of `width` bits passes, its largest included.
    let modulus =
        Modulus::new((1 << width) - 1).map_err(|_| WireError::Value("a coefficient has 8 to 56 bits"))?;
    let mut out = vec![0; count];
    (Target::best().streams.residues)(&modulus, bytes, width, &mut out);
    Ok(out)
}

impl<S: Scheme> Arrived<Reduced<S>> {
    /// Lifts the ciphertext to the level's modulus and returns it with the plan's shape. Only the coefficients of the
    /// plan's selection are valid.
    ///
    /// # Errors
    /// [`Unexpected`] names the first difference, in the order key, parameters, level, components, scaling, noise
    /// bound, form.
    pub fn expect(self, expected: &Expected<S>) -> Result<Ciphertext<S>, Unexpected> {
        let reduced = self.with_claimed_shape();
        let form = Some(reduced.reduction());
        expected.check_form(form)?;
        // Reading already checked the form against the claimed shape, so lifting cannot fail here.
        let lifted =
            reduced.lift().map_err(|_| Unexpected::Form { expected: expected.reduction, found: form })?;
        lifted.expect(expected)
    }
}
