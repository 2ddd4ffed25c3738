// Package toy is a framework that does not exist, with all that a framework has: versions, a kind of rows, a launch profile and a rule.
// Tests add it to the tool by one import (cmd/rlprep, TestFramework), and it shows what a folder of a framework must hold.
package toy

import "github.com/rlprep/rlprep/schema/rule"

var framework = rule.Register(rule.Framework{
	Name:     "toy",
	Versions: []rule.Version{{Name: "1"}, {Name: "2", Trainers: []string{"fast", "slow"}}},
	Kinds:    []rule.Rows{{Kind: "pairs"}},
	Launch: &rule.Profile{
		Command: []string{"python3", "-m", "toy.train"},
		Modules: []string{"toy."},
		Configs: func(rule.Target) *rule.Configs {
			return &rule.Configs{
				Files: map[string]string{"toy/conf/train": "data: pairs.parquet\nrounds: 3\n"},
				Mains: map[string]string{"toy.train": "toy/conf/train"},
				Base:  "toy/conf/train",
			}
		},
		TrainFiles: "data",
		Facts: func(_ rule.Target, l rule.Launch, _ []*rule.File) []rule.Fact {
			data, _ := l.Value("data")
			return []rule.Fact{{Name: "train_files", Value: data, Keys: []string{"data"}}}
		},
	},
})
