// swift-tools-version: 6.1
import Foundation
import PackageDescription

/// The mounted vendors; a new one needs its name here, its folders and a line in the catalog.
let vendors = ["Bloomreach", "Comapi", "IMS", "Rezolve"]

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

let foundation: [Target] = [
    .systemLibrary(
        name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .target(name: "CEpoll"),
    .target(name: "JSON"),
    .target(name: "Wire", dependencies: ["JSON", httpTypes]),
    .target(name: "HTTPEngine", dependencies: ["Wire", "COpenSSL", "CEpoll", httpTypes]),
    .target(name: "Tokens", dependencies: ["JSON", "COpenSSL"]),
    .target(name: "Contracts", dependencies: ["JSON", httpTypes]),
]

let core: [Target] = [
    .target(
        name: "Emulation",
        dependencies: [
            "JSON", "Wire", "Tokens", httpTypes, logging, .product(name: "Yams", package: "Yams"),
            .product(name: "Mustache", package: "swift-mustache"),
        ])
]

let vendorTargets: [Target] = vendors.map { vendor in
    .target(
        name: vendor, dependencies: ["JSON", "Wire", "Tokens", "Emulation", httpTypes],
        path: "Sources/Vendors/\(vendor)")
}

let mounting: [Target] = [
    .target(
        name: "Fixtures", path: "Fixtures", sources: ["FixtureResources.swift"],
        resources: vendors.map { .copy($0.lowercased()) }),
    .target(
        name: "Understudy",
        dependencies: ["JSON", "Wire", "Tokens", "HTTPEngine", "Emulation", "Fixtures", httpTypes, logging]
            + vendors.map { .target(name: $0) },
        // Part of the program, so that the page is wherever the program is.
        resources: [.embedInCode("Page/Files")]),
    .target(
        name: "UnderstudyTesting",
        dependencies: ["JSON", "Wire", "HTTPEngine", "Emulation", "Understudy", httpTypes]),
    .executableTarget(
        name: "UnderstudyCLI",
        dependencies: [
            "JSON", "Wire", "Emulation", "Understudy", "Tokens", "HTTPEngine", "Contracts", httpTypes, logging,
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
        ]),
]

let foundationTests: [Target] = [
    .target(name: "Mutations", path: "Tests/Mutations"),
    .testTarget(name: "JSONTests", dependencies: ["JSON", "Mutations"]),
    .testTarget(name: "WireTests", dependencies: ["Wire", httpTypes]),
    .testTarget(name: "HTTPEngineTests", dependencies: ["HTTPEngine", "Wire", "Mutations", "COpenSSL", httpTypes]),
    .executableTarget(
        name: "EngineProbe", dependencies: ["HTTPEngine", "Wire", httpTypes], path: "Tests/EngineProbe"),
    .testTarget(name: "TokensTests", dependencies: ["Tokens", "JSON", "Mutations"]),
    .testTarget(name: "ContractsTests", dependencies: ["Contracts", "JSON", "Mutations", httpTypes]),
]

let tests: [Target] = [
    .testTarget(name: "UnderstudyCLITests", dependencies: ["UnderstudyCLI", "JSON", "Wire", "HTTPEngine", httpTypes]),
    .target(
        name: "Support",
        dependencies: ["JSON", "Wire", "Tokens", "HTTPEngine", "Emulation", "Understudy", "Contracts", httpTypes],
        path: "Tests/Support"),
    .testTarget(name: "EmulationTests", dependencies: ["Emulation", "JSON", "Wire", "Tokens", "Support", httpTypes]),
    .testTarget(
        name: "UnderstudyTests",
        dependencies: [
            "Understudy", "Emulation", "JSON", "Wire", "Tokens", "Contracts", "Support", httpTypes, logging,
        ], exclude: ["States"]),
    .testTarget(
        name: "PropertyTests",
        dependencies: ["Understudy", "Emulation", "JSON", "Contracts", "Mutations", "Support", httpTypes],
        path: "Tests/Property", exclude: ["run"]),
]

let vendorTests: [Target] = vendors.map { vendor in
    .testTarget(
        name: "\(vendor)Tests",
        dependencies: [
            "Understudy", "Emulation", "JSON", "Wire", "Tokens", "Support", httpTypes, .target(name: vendor),
        ])
}

/// Whether the tests exist: images are built without them.
let hasTests = FileManager.default.fileExists(atPath: Context.packageDirectory + "/Tests")

/// Whether to build only what the emulation is based on, which is enough for fuzzing and the sanitizers.
let isFoundationOnly = Context.environment["UNDERSTUDY_FOUNDATION_ONLY"] != nil

let package = Package(
    name: "understudy",
    platforms: [.macOS(.v15)],
    products: isFoundationOnly
        ? []
        : [
            .executable(name: "understudy", targets: ["UnderstudyCLI"]),
            .library(name: "Understudy", targets: ["Understudy"]),
            .library(name: "UnderstudyTesting", targets: ["UnderstudyTesting"]),
            .library(name: "Tokens", targets: ["Tokens"]),
        ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    ],
    targets: foundation + (isFoundationOnly ? [] : core + vendorTargets + mounting)
        + (hasTests ? foundationTests + (isFoundationOnly ? [] : tests + vendorTests) : [])
)

for target in package.targets where target.type == .regular || target.type == .test || target.type == .executable {
    target.swiftSettings = [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
    ]
}
