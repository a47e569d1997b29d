// swift-tools-version: 6.1
import PackageDescription

// An app and its tests as written by users outside this repository; they see only Understudy's products.
let package = Package(
    name: "consumer",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "understudy", path: "../.."),
        // The app's own, which Understudy needs too: both must be content with one version.
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types", "1.3.0"..<"2.0.0"),
    ],
    targets: [
        .target(
            name: "AddressApp",
            dependencies: [
                .product(name: "Logging", package: "swift-log"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .testTarget(
            name: "AddressAppTests",
            dependencies: ["AddressApp", .product(name: "UnderstudyTesting", package: "understudy")]),
    ]
)
