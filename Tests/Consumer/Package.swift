// swift-tools-version: 6.1
import PackageDescription

// An app and its tests as people outside of this repository write them; they see the products of Understudy alone.
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
