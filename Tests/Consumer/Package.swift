// swift-tools-version: 6.1
import PackageDescription

// An app and its tests as written by users outside this repository; they see only Understudy's products.
let package = Package(
    name: "consumer",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "understudy", path: "../..")],
    targets: [
        .target(name: "AddressApp"),
        .testTarget(
            name: "AddressAppTests",
            dependencies: ["AddressApp", .product(name: "UnderstudyTesting", package: "understudy")]),
    ]
)
