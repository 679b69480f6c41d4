// swift-tools-version: 5.10

import PackageDescription

let package = Package(
    name: "side-by-side",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-homomorphic-encryption", from: "1.0.7"),
    ],
    targets: [
        .executableTarget(
            name: "SideBySide",
            dependencies: [
                .product(name: "HomomorphicEncryption", package: "swift-homomorphic-encryption"),
                .product(name: "HomomorphicEncryptionProtobuf", package: "swift-homomorphic-encryption"),
            ],
            swiftSettings: [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))]),
    ])
