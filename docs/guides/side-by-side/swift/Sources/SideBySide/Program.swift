// [program
import Foundation
import HomomorphicEncryption
import HomomorphicEncryptionProtobuf

typealias Scheme = Bfv<UInt64>
typealias Message = Apple_SwiftHomomorphicEncryption_V1_SerializedCiphertext
typealias KeyMessage = Apple_SwiftHomomorphicEncryption_V1_SerializedEvaluationKey

func makeContext() throws -> Context<Scheme> {
    let degree = 16384
    // One prime above 2^32 > 6500² · 100, four of 55 bits, the last one for keys.
    let t = try UInt64.generatePrimes(significantBitCounts: [33], preferringSmall: true, nttDegree: degree)[0]
    let q = try UInt64.generatePrimes(
        significantBitCounts: [55, 55, 55, 55], preferringSmall: false, nttDegree: degree)
    return try Context(encryptionParameters: EncryptionParameters<Scheme>(
        polyDegree: degree, plaintextModulus: t, coefficientModuli: q,
        errorStdDev: .stdDev32, securityLevel: .quantum128))
}

/// The owner makes keys, and sends the public ones.
func makeKeys(_ context: Context<Scheme>) throws -> (SecretKey<Scheme>, Data) {
    let secret = try context.generateSecretKey()
    let elements = try [-4, -2, -1].map {
        try GaloisElement.rotatingColumns(by: $0, degree: context.encryptionParameters.polyDegree)
    }
    let config = EvaluationKeyConfig(galoisElements: elements, hasRelinearizationKey: true)
    return try (secret, context.generateEvaluationKey(config: config, using: secret)
        .serialize().proto().serializedData())
}

/// The device encrypts: temperatures in hundredths of a degree, weights in percent.
func encrypt(_ values: [Int64], _ context: Context<Scheme>, _ secret: SecretKey<Scheme>) throws -> Data {
    let t = Int64(context.encryptionParameters.plaintextModulus)
    let plain: Scheme.CoeffPlaintext = try context.encode(
        values: values.map { UInt64(($0 + t) % t) }, format: .simd)
    return try plain.encrypt(using: secret).serialize().proto().serializedData()
}

/// The cloud computes.
func compute(_ context: Context<Scheme>, keys: Data, x: Data, w: Data) throws -> Data {
    let keys: EvaluationKey<Scheme> = try KeyMessage(serializedBytes: keys).native(context: context)
    var x: Scheme.CanonicalCiphertext = try Ciphertext(
        deserialize: Message(serializedBytes: x).native(), context: context)
    let w: Scheme.CanonicalCiphertext = try Ciphertext(
        deserialize: Message(serializedBytes: w).native(), context: context)
    let twenty: Scheme.CoeffPlaintext = try context.encode(
        values: [UInt64](repeating: 2000, count: 8), format: .simd)
    x = try x - twenty
    for factor in [x, w] {
        try x *= factor
        try x.relinearize(using: keys)
    }
    for step in [-4, -2, -1] {
        var turned = x
        try turned.rotateColumns(by: step, using: keys)
        try x += turned
    }
    try x.modSwitchDownToSingle()
    return try x.serialize(forDecryption: true).proto().serializedData()
}

/// The owner decrypts.
func decrypt(_ answer: Data, _ context: Context<Scheme>, _ secret: SecretKey<Scheme>) throws -> Double {
    let ciphertext: Scheme.CanonicalCiphertext = try Ciphertext(
        deserialize: Message(serializedBytes: answer).native(), context: context, moduliCount: 1)
    let slots: [UInt64] = try ciphertext.decrypt(using: secret).decode(format: .simd)
    return Double(slots[0]) / 1e6
}
// program]
