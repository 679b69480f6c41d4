// A weighted sum of squares of eight encrypted readings with swift-homomorphic-encryption.

let x: [Int64] = [1825, 1950, 2075, 2100, 2240, 2385, -310, 2000]
let w: [Int64] = [5, 10, 15, 20, 20, 15, 10, 5]

let clock = ContinuousClock()
var start = clock.now
let context = try makeContext()
let (secret, keys) = try makeKeys(context)
let keysMade = clock.now - start
start = clock.now
let (sentX, sentW) = try (encrypt(x, context, secret), encrypt(w, context, secret))
let encrypted = clock.now - start
start = clock.now
let answer = try compute(makeContext(), keys: keys, x: sentX, w: sentW)
let computed = clock.now - start
start = clock.now
let found = try decrypt(answer, context, secret)
let decrypted = clock.now - start

var exact = 0.0
for (x, w) in zip(x, w) {
    exact += Double(w) * Double((x - 2000) * (x - 2000)) / 1e6
}
print("bytes   keys \(keys.count), x \(sentX.count), w \(sentW.count), answer \(answer.count)")
print("seconds keys \(keysMade), encrypt \(encrypted), cloud \(computed), decrypt \(decrypted)")
print("answer  \(found), exact \(exact), error \(abs(found - exact))")
